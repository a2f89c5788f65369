import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Program, Result } from "./programs.ts";

/** Common Lisps from Debian packages, which `npm test` installs. */
const commands = {
  sbcl: ["sbcl", "--script"],
  ecl: ["ecl", "--norc", "--shell"],
} as const;

/** Runs all programs in one process of another Lisp, each in its own package. */
export async function runInLisp(
  lisp: keyof typeof commands,
  programs: readonly Program[],
): Promise<Map<string, Result>> {
  const [command, ...flags] = commands[lisp];
  const child = spawn(command, [...flags, fileURLToPath(new URL("oracle.lisp", import.meta.url))], {
    env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8" },
    timeout: 100_000,
  });
  const started = new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) =>
      reject(
        new Error(`${command} does not start; install it with: apt-get install -y sbcl ecl`, {
          cause,
        }),
      ),
    );
  });
  child.stdin.end(
    `(${programs.map(({ name, source }) => `(${quote(name)} ${quote(source)})`).join("\n")})\n`,
  );
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), started]);
  const results = output
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map(read);
  if (results.length !== programs.length)
    throw new Error(
      `${lisp} returned ${results.length} of ${programs.length} programs:\n${output.slice(-500)}\n${errors.slice(0, 2_000)}`,
    );
  return new Map(results);
}

function read(line: string): [string, Result] {
  const { name, values, output, condition } = JSON.parse(line);
  return [name, { values, output, condition: condition ?? undefined }];
}

const quote = (source: string) => `"${source.replace(/["\\]/g, "\\$&")}"`;
