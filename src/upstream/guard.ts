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

// Reads "+ pid" and "- pid", one per line. At the end of input: SIGTERM, a pause, SIGKILL.
const script = `
groups=" "
while read -r change group; do
  case "$change" in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -TERM "-$group" 2>/dev/null; done
sleep 0.5
for group in $groups; do kill -KILL "-$group" 2>/dev/null; done
exit 0
`;

export function createGuard(): ProcessGuard {
  let shell: ChildProcess | undefined;

  function send(line: string): void {
    if (!shell) {
      shell = spawn("/bin/sh", ["-c", script], {
        stdio: ["pipe", "ignore", "ignore"],
        detached: true,
        env: { PATH: "/usr/bin:/bin" },
      });
      // Without a shell most children still end when their stdin closes.
      shell.on("error", () => {});
      shell.stdin?.on("error", () => {});
      shell.unref();
    }
    shell.stdin?.write(`${line}\n`);
  }

  return {
    watch: (pid) => send(`+ ${pid}`),
    release: (pid) => send(`- ${pid}`),
    close() {
      shell?.stdin?.end();
      shell = undefined;
    },
  };
}
