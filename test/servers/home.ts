import { spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isObject, type JsonObject } from "../../src/base/json.ts";

/** A home of its own with a project in it, for commands that read and write other programs' files. */
export interface Home extends Disposable {
  readonly path: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  /** Writes a file; `~` is the home, `.` the project. Returns its path. */
  write(name: string, content: string | Buffer | object): string;
  read(name: string): string;
  locate(name: string): string;
  /** Every file under the home with what it holds, except compiled code. */
  files(): Readonly<Record<string, string>>;
  /** `input` goes to its stdin. */
  run(
    cli: string,
    args: readonly string[],
    more?: Readonly<Record<string, string>>,
    input?: string,
  ): Promise<Ran>;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Writes the user's own config, which allows approvals without a person: tests have no terminal. */
export function allowUnattended(configHome: string, more: JsonObject = {}): void {
  mkdirSync(join(configHome, "guildhall"), { recursive: true, mode: 0o700 });
  const trust = { unattended: true, ...(isObject(more.trust) ? more.trust : {}) };
  const file = join(configHome, "guildhall", "config.json");
  // Whole at once: tests that run side by side share the file.
  writeFileSync(`${file}.new`, JSON.stringify({ ...more, trust }));
  renameSync(`${file}.new`, file);
}

export function makeHome(files: Readonly<Record<string, string | object>> = {}): Home {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "guildhall-home-")));
  const project = join(path, "project");
  mkdirSync(project);
  // Nothing of the real environment but what is needed to start a program.
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: path,
    XDG_RUNTIME_DIR: path,
    // As for all tests: see vitest.config.ts.
    GUILDHALL__DEFAULTS__SANDBOX: "off",
  };
  const locate = (name: string): string => name.replace(/^~/, path).replace(/^\./, project);
  const home: Home = {
    path,
    project,
    env,
    locate,
    write(name, content) {
      const file = locate(name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(
        file,
        typeof content === "string" || Buffer.isBuffer(content)
          ? content
          : JSON.stringify(content, null, 2),
      );
      return file;
    },
    read: (name) => readFileSync(locate(name), "utf8"),
    files() {
      const entries = readdirSync(path, { recursive: true, withFileTypes: true }).filter(
        (entry) => entry.isFile() && !entry.parentPath.endsWith("/.cache/guildhall/compiled"),
      );
      return Object.fromEntries(
        entries.map((entry) => [
          join(entry.parentPath, entry.name),
          readFileSync(join(entry.parentPath, entry.name), "utf8"),
        ]),
      );
    },
    run: (cli, args, more = {}, input) =>
      runCommand([cli, ...args], { cwd: project, env: { ...env, ...more }, input }),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
  allowUnattended(join(path, ".config"));
  for (const [name, content] of Object.entries(files)) {
    if (name === "~/.config/guildhall/config.json" && isObject(content))
      allowUnattended(join(path, ".config"), content);
    else home.write(name, content);
  }
  return home;
}

export function runCommand(
  args: readonly string[],
  { cwd, env, input }: { cwd: string; env: NodeJS.ProcessEnv; input?: string | undefined },
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, env, stdio: "pipe", timeout: 100_000 });
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (bytes: Buffer) => {
      stdout += bytes;
    });
    child.stderr.on("data", (bytes: Buffer) => {
      stderr += bytes;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
