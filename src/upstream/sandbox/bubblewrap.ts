import { execFile } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";
import { makePrivateFolder } from "../../base/files.ts";
import { isInside, realOf } from "../../config/project-limits.ts";
import type { ProgramRun } from "../gate.ts";
import { isOfProject } from "../program.ts";
import type { BoxPlan } from "./box.ts";
import { channelDescriptor, openerFor } from "./network.ts";
import type { Profile } from "./profile.ts";

/** The programs that make a sandbox. */
export interface Runtime {
  readonly bwrap: string;
  /** Of util-linux; without it there are no limits per process. */
  readonly prlimit: string | undefined;
  /** Opens the network of a sandbox; without it, Node does. */
  readonly perl: string | undefined;
}

/** Why there is no sandbox on this machine, as a clause. */
export interface NoRuntime {
  readonly reason: string;
}

const probeMsMax = 10_000;

/** Looks on the PATH, and makes an empty sandbox to see that the system permits it. */
export async function findRuntime(): Promise<Runtime | NoRuntime> {
  if (process.platform !== "linux") return { reason: `there is none for ${process.platform}` };
  const bwrap = findOnPath("bwrap");
  if (bwrap === undefined) return { reason: "bubblewrap (bwrap) is not installed" };
  const args = [...isolation, "--unshare-net", ...systemFiles(), "--", "/bin/sh", "-c", ":"];
  return new Promise((resolve) => {
    execFile(bwrap, args, { timeout: probeMsMax }, (error, _stdout, stderr) => {
      if (!error) resolve({ bwrap, prlimit: findOnPath("prlimit"), perl: findOnPath("perl") });
      else
        resolve({
          reason: `bubblewrap is not permitted (${stderr.trim().split("\n")[0] || error.message})`,
        });
    });
  });
}

export function findOnPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((it) => it.startsWith("/"));
  return folders
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return !isOfProject(file);
      } catch {
        return false;
      }
    });
}

/** No process, user, network, terminal or capability of the machine, and no further namespaces inside. */
const isolation: readonly string[] = [
  ..."--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try".split(" "),
  ..."--disable-userns --cap-drop ALL --die-with-parent".split(" "),
];

const systemFolders = "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /nix/store".split(" ");
/** Of /etc only what programs look up; passwords and keys of the machine stay out. */
const settings =
  `alternatives ca-certificates ca-certificates.conf crypto-policies fonts gai.conf group host.conf java-17-openjdk
  java-21-openjdk ld.so.cache ld.so.conf ld.so.conf.d locale.alias localtime machine-id magic mime.types nsswitch.conf
  os-release passwd pki protocols python3 services ssl terminfo timezone`.split(/\s+/);

function systemFiles(): readonly string[] {
  const folders = systemFolders.flatMap((folder) => {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (!found) return [];
    return found.isSymbolicLink()
      ? ["--symlink", readlinkSync(folder), folder]
      : ["--ro-bind", folder, folder];
  });
  const etc = settings.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]);
  return [...folders, ...etc, "--proc", "/proc", ...kernelFiles(), "--dev", "/dev"];
}

/** Settings of the whole machine: a server that runs as root owns these files, with or without capabilities. */
function kernelFiles(): readonly string[] {
  const settings = "sys irq bus acpi scsi fs driver tty mtrr".split(" ");
  const closed = "sysrq-trigger kcore kmsg kpagecount kpageflags kpagecgroup keys timer_list".split(
    " ",
  );
  const at = (name: string): string => `/proc/${name}`;
  return [
    ...settings.flatMap((name) => ["--ro-bind-try", at(name), at(name)]),
    ...closed
      .filter((name) => existsSync(at(name)))
      .flatMap((name) => ["--ro-bind", "/dev/null", at(name)]),
  ];
}

/** Links are followed once: this is asked for each path of each start. */
let realSystemFolders: readonly string[] | undefined;

export function isSystemFile(path: string): boolean {
  realSystemFolders ??= [...new Set(systemFolders.map(realOf))];
  const real = realOf(path);
  return realSystemFolders.some((folder) => isInside(real, folder));
}

export interface BoxedRun {
  readonly run: ProgramRun;
  /** The hall serves its network. */
  readonly hasNetwork: boolean;
}

export interface Boxing extends Pick<BoxPlan, "profile" | "isLearning" | "tracer"> {
  readonly runtime: Runtime;
  /** The files of the server itself. */
  readonly own: readonly string[];
  /** Names of the variables in its entry. */
  readonly given: readonly string[];
  readonly hasFilter: boolean;
}

/** The same program with the same arguments, in a sandbox. */
export function boxRun(run: ProgramRun, boxing: Boxing): BoxedRun {
  const { runtime, profile, isLearning = false, tracer = [], hasFilter } = boxing;
  const hasNetwork = profile.hosts.length > 0 || isLearning;
  const inner = [
    runtime.bwrap,
    ...isolation,
    ...sameUser(),
    ...(hasNetwork ? [] : ["--unshare-net"]),
    ...(hasFilter ? ["--seccomp", String(filterDescriptor)] : []),
    ...fileArguments(boxing),
    "--chdir",
    run.cwd ?? process.cwd(),
    "--",
    ...limitArguments(boxing),
    run.program,
    ...run.args,
  ];
  const env = environmentIn(run, boxing);
  const [program = "", ...args] = [...tracer, ...(hasNetwork ? withNetwork(inner, boxing) : inner)];
  return { run: { program, args, env, cwd: "/" }, hasNetwork };
}

function sameUser(): readonly string[] {
  const ids = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  return ["--uid", String(ids.uid), "--gid", String(ids.gid)];
}

const filterDescriptor = 4;

// Closes the channel to the hall before anything of the server runs.
const networkScript = `"$0" -e "$1" "$2" || exit 1
shift 2
unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
exec ${channelDescriptor}<&-
exec "$@"`;

/** An outer sandbox that only has another network, in which the listeners are made. */
function withNetwork(
  inner: readonly string[],
  { runtime, profile }: Pick<Boxing, "runtime" | "profile">,
): readonly string[] {
  return [
    runtime.bwrap,
    ..."--unshare-user --uid 0 --gid 0 --unshare-net --cap-add CAP_NET_BIND_SERVICE".split(" "),
    // Linux lets only a process with it map the user of the inner sandbox to this one.
    ...["--cap-add", "CAP_SETFCAP"],
    ..."--dev-bind / / --die-with-parent -- /bin/sh -c".split(" "),
    networkScript,
    ...openerFor(profile.hosts, runtime.perl),
    ...inner,
  ];
}

/** For a package manager. The process that starts it serves its network. */
export function boxInstallation(
  run: ProgramRun,
  { runtime, profile }: Pick<Boxing, "runtime" | "profile">,
): readonly string[] {
  const inner = [
    runtime.bwrap,
    ...isolation,
    ...sameUser(),
    ...fileArguments({ profile: { ...profile, project: undefined }, own: ["/etc/npmrc"] }),
    ...["--chdir", run.cwd ?? "/", "--", run.program, ...run.args],
  ];
  return withNetwork(inner, { runtime, profile });
}

const temporaryBytesMax = 256 * 1024 * 1024;

function fileArguments({ profile, own }: Pick<Boxing, "profile" | "own">): readonly string[] {
  const { home, state, project, hidden, read, write } = profile;
  const isHidden = (path: string): boolean => hidden.some((folder) => isInside(path, folder));
  const isWritable = (path: string): boolean => write.some((folder) => isInside(path, folder));
  const shared = [...(project === undefined ? [] : [project]), ...read].filter(
    (path) => !isWritable(path),
  );
  const readable = withoutInner([...shared, ...own.filter((path) => !isHidden(path))], isWritable)
    .filter((path) => !isSystemFile(path))
    .map((path) => ({ path, how: "--ro-bind" }));
  const writable = write.map((path) => ({ path, how: "--bind" }));
  // A folder before what lies in it; of two for one path, the last counts.
  const mounts = [...readable, ...writable]
    .filter(({ path }) => existsSync(path))
    .sort((a, b) => depthOf(a.path) - depthOf(b.path));
  const isSeen = (path: string): boolean =>
    existsSync(path) && mounts.some((mount) => isInside(realOf(path), realOf(mount.path)));
  return [
    ...systemFiles(),
    ..."--dir /run --dir /var/tmp --symlink ../run /var/run".split(" "),
    ...["--ro-bind", join(dirname(dirname(state)), hostsFile), "/etc/hosts"],
    ...["--size", String(temporaryBytesMax), "--tmpfs", "/tmp"],
    ...["--bind", state, home],
    ...mounts.flatMap(({ path, how }) => [how, realOf(path), path]),
    ...write.flatMap(guarded),
    ...hidden.filter(isSeen).flatMap(covered),
    // Packages that the hall has installed lie in a folder of ours.
    ...own.filter(isHidden).flatMap((path) => ["--ro-bind", path, path]),
    ...["--remount-ro", "/"],
  ];
}

/**
 * Without paths in one of the other folders, which would be mounted twice. Links may lead out of it, and its own files
 * in a folder that it may write are mounted to stay as they are.
 */
function withoutInner(
  paths: readonly string[],
  isWritable: (path: string) => boolean,
): readonly string[] {
  const folders = new Set(paths);
  const isInner = (path: string): boolean => {
    for (let above = dirname(path); above !== dirname(above); above = dirname(above))
      if (folders.has(above)) return realOf(path) === join(realOf(above), relative(above, path));
    return false;
  };
  return [...folders].filter((path) => isWritable(path) || !isInner(path));
}

function depthOf(path: string): number {
  return path.split("/").length;
}

const hostsFile = "hosts";

/**
 * Makes the folders that a sandbox needs. Its hosts file has `localhost` only; other names are resolved by the
 * hall, or not at all.
 */
export function prepareFolders({ state }: Pick<Profile, "state">): void {
  makePrivateFolder(state);
  const file = join(dirname(dirname(state)), hostsFile);
  if (!existsSync(file)) writeFileSync(file, "127.0.0.1 localhost\n::1 localhost\n");
}

/** Files that other programs run or obey: a server that writes the folder does not write these. */
const obeyed =
  ".git/hooks .git/config .husky .envrc .vscode .idea .claude .cursor .mcp.json .npmrc guildhall.json guildhall.jsonc guildhall.toml".split(
    " ",
  );

function guarded(folder: string): readonly string[] {
  return obeyed
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .flatMap((path) => ["--ro-bind", realOf(path), path]);
}

function covered(path: string): readonly string[] {
  return statSync(path).isDirectory()
    ? ["--perms", "0700", "--tmpfs", path]
    : ["--ro-bind", "/dev/null", path];
}

const processesMax = 512;
const fileBytesMax = 1024 ** 3;

function limitArguments({ runtime, profile }: Boxing): readonly string[] {
  const { memoryMb, cpuSeconds } = profile;
  if (runtime.prlimit === undefined) return [];
  return [
    runtime.prlimit,
    "--core=0",
    `--nproc=${processesMax}`,
    `--fsize=${fileBytesMax}`,
    `--data=${memoryMb * 1024 * 1024}`,
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}`]),
    "--",
  ];
}

const inherited = new Set(
  "LANG LANGUAGE LOGNAME SHELL TERM TZ USER NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE".split(
    " ",
  ),
);

/** Variables of its entry, and of the hall's those that mean something inside. */
function environmentIn(
  run: ProgramRun,
  { profile: { home, env }, given }: Boxing,
): Readonly<Record<string, string>> {
  const isPassed = (name: string): boolean =>
    env ? env.includes(name) : inherited.has(name) || name.startsWith("LC_");
  const entries = Object.entries(run.env).filter(
    ([name]) => given.includes(name) || name === "PATH" || isPassed(name),
  );
  return { ...Object.fromEntries(entries), HOME: home, TMPDIR: "/tmp" };
}
