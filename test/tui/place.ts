import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { allowUnattended } from "../servers/home.ts";
import { makeProject, type Project } from "../workflow/projects.ts";
import { openPane, type Pane } from "./pane.ts";

/** The built command. */
export const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** A project on a machine of its own: what is trusted, listened on and logged there is nobody else's. */
export interface Place extends AsyncDisposable {
  readonly project: Project;
  /** For whatever is started there. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command of ours without a terminal. */
  run(
    ...args: readonly string[]
  ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
  /** Starts the client on a terminal, as a person would. */
  openClient(args?: string, env?: Readonly<Record<string, string>>): Promise<Pane>;
}

export function makePlace(files: Readonly<Record<string, string>> = {}): Place {
  if (!existsSync(cli)) throw new Error("dist/cli.js is missing: run `npm run build` first");
  const project = makeProject({ "guildhall.json": "{}", ...files });
  const env = Object.fromEntries(
    ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"].map((name) => [
      name,
      project.path(".own"),
    ]),
  );
  allowUnattended(project.path(".own"));
  const panes: Pane[] = [];
  return {
    project,
    env,
    run: (...args) =>
      new Promise((resolve) => {
        const child = execFile(
          process.execPath,
          [cli, ...args],
          { cwd: project.folder, env: { ...process.env, ...env } },
          (error, stdout, stderr) =>
            resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
        );
        child.stdin?.end();
      }),
    async openClient(args = "", more = {}) {
      const pane = await openPane({ folder: project.folder, env: { ...env, ...more } });
      panes.push(pane);
      await pane.type(`'${process.execPath}' '${cli}' tui ${args}`);
      await pane.press("Enter");
      return pane;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(panes.map((pane) => pane[Symbol.asyncDispose]()));
      // The program writes its last lines after its terminal has closed.
      await rm(project.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}
