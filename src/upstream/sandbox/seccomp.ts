/**
 * System calls that no server needs and that have opened sandboxes before: debugging other processes, the kernel's
 * keyrings, mounts, namespaces, modules, io_uring. They fail with EPERM. By their numbers on x64 and arm64.
 */
const denied: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsmount: [432, 432],
  mount_setattr: [442, 442],
  unshare: [272, 97],
  setns: [308, 268],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  syslog: [103, 116],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
};

const load = 0x20; // BPF_LD | BPF_W | BPF_ABS
const isEqual = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const isAtLeast = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const answer = 0x06; // BPF_RET | BPF_K
const allow = 0x7fff0000;
const permissionDenied = 0x00050001; // SECCOMP_RET_ERRNO | EPERM
/** Calls of the x32 interface have this bit. */
const x32 = 0x40000000;

/** The filter as bubblewrap reads it; undefined for other processors, whose numbers differ. */
export function createSystemCallFilter(processor: string = process.arch): Buffer | undefined {
  const at = ["x64", "arm64"].indexOf(processor);
  if (at === -1) return undefined;
  const numbers = Object.values(denied).map((pair) => pair[at] as number);
  const architecture = at === 0 ? 0xc000003e : 0xc00000b7;
  const refuse = numbers.length + 1;
  return Buffer.concat([
    instruction(load, 4),
    // A program for another interface of the kernel, such as 32-bit, may call nothing.
    instruction(isEqual, architecture, 0, refuse + 2),
    instruction(load, 0),
    instruction(isAtLeast, x32, refuse, 0),
    ...numbers.map((number, index) => instruction(isEqual, number, refuse - 1 - index, 0)),
    instruction(answer, allow),
    instruction(answer, permissionDenied),
  ]);
}

function instruction(code: number, value: number, ifTrue = 0, ifFalse = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}
