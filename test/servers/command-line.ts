import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { runLine } from "../../src/cli/run.ts";

export interface Ended {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Commands in this process, in folders of a root that is also the home of a user without files. */
export interface CommandLine extends Disposable {
  readonly root: string;
  run(folder: string, ...args: readonly string[]): Promise<Ended>;
}

export function makeCommandLine(): CommandLine {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "guildhall-line-")));
  const before = process.cwd();
  for (const name of ["HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"])
    vi.stubEnv(name, root);
  process.setMaxListeners(200);
  return {
    root,
    async run(folder, ...args) {
      process.chdir(join(root, folder));
      const output = { stdout: "", stderr: "" };
      const mocks = (["stdout", "stderr"] as const).map((stream) =>
        vi.spyOn(process[stream], "write").mockImplementation((text) => {
          output[stream] += String(text);
          return true;
        }),
      );
      try {
        return { exit: await runLine(args), ...output };
      } finally {
        for (const mock of mocks) mock.mockRestore();
      }
    },
    [Symbol.dispose]() {
      process.chdir(before);
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
