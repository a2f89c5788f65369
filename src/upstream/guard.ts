import { type ChildProcess, spawn } from "node:child_process";

/**
 * Stops our child processes even after `kill -9` of the hall. A small shell script in its own process
 * group receives the pid of every child over a pipe; when the pipe closes, it stops their groups.
 */
export interface ProcessGuard {
  watch(pid: number): void;
  release(pid: number): void;
  close(): void;
}

// Each line holds the groups that run now, so the script only keeps the last one. At the end of
// input: SIGTERM, a pause, SIGKILL.
const script = `
groups=
while read -r line; do groups=$line; done
[ -n "$groups" ] || exit 0
for group in $groups; do kill -TERM "-$group" 2>/dev/null; done
sleep 0.5
for group in $groups; do kill -KILL "-$group" 2>/dev/null; done
exit 0
`;

export function createGuard(): ProcessGuard {
  const groups = new Set<number>();
  let shell: ChildProcess | undefined;
  let isClosed = false;

  function update(): void {
    if (isClosed) return;
    shell ??= startShell(() => {
      shell = undefined;
    });
    shell.stdin?.write(`${[...groups].join(" ")}\n`);
  }

  return {
    watch(pid) {
      groups.add(pid);
      update();
    },
    release(pid) {
      if (groups.delete(pid)) update();
    },
    close() {
      isClosed = true;
      shell?.stdin?.end();
    },
  };
}

/** `ended`: somebody has killed it. The next child starts another. */
function startShell(ended: () => void): ChildProcess {
  const shell = spawn("/bin/sh", ["-c", script], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    env: { PATH: "/usr/bin:/bin" },
  });
  // Without a shell most children still end when their stdin closes.
  shell.on("error", () => {});
  shell.on("exit", ended);
  shell.stdin?.on("error", () => {});
  shell.unref();
  return shell;
}
