import { type ChildProcess, spawn } from "node:child_process";

/**
 * Ends what we started when we cannot do it ourselves: after `kill -9` nothing of ours runs any more. A shell of a few
 * lines, in a process group of its own, hears of every child over a pipe; when the pipe closes, it ends their groups.
 */
export interface Guard {
  watch(pid: number): void;
  release(pid: number): void;
  close(): void;
}

// Told "+ pid" and "- pid", one a line. After the end of input: ask, wait a moment, insist.
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

export function createGuard(): Guard {
  let shell: ChildProcess | undefined;

  function tell(line: string): void {
    if (!shell) {
      shell = spawn("/bin/sh", ["-c", script], {
        stdio: ["pipe", "ignore", "ignore"],
        detached: true,
        env: { PATH: "/usr/bin:/bin" },
      });
      // Without a shell the children still end with their stdin; only stubborn ones would stay.
      shell.on("error", () => {});
      shell.stdin?.on("error", () => {});
      shell.unref();
    }
    shell.stdin?.write(`${line}\n`);
  }

  return {
    watch: (pid) => tell(`+ ${pid}`),
    release: (pid) => tell(`- ${pid}`),
    close() {
      shell?.stdin?.end();
      shell = undefined;
    },
  };
}
