import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A small program and its name, `file/name`. */
export interface Program {
  readonly name: string;
  readonly source: string;
}

/** The printed values of the last form, the output, and the type of an unhandled condition. */
export interface Result {
  readonly values: readonly string[];
  readonly output: string;
  readonly condition: string | undefined;
}

/** The programs of test/lisp/programs: many per file, each behind a line `;; --- name`. */
export function readPrograms(): Program[] {
  const folder = fileURLToPath(new URL("programs/", import.meta.url));
  return readdirSync(folder)
    .filter((file) => file.endsWith(".lisp"))
    .flatMap((file) =>
      split(readFileSync(folder + file, "utf8")).map(({ name, source }) => ({
        name: `${file.slice(0, -5)}/${name}`,
        source,
      })),
    );
}

function split(text: string): Program[] {
  const [, ...parts] = text.split(/^;; --- /m);
  return parts.map((part) => {
    const end = part.indexOf("\n");
    return { name: part.slice(0, end).trim(), source: part.slice(end + 1).trim() };
  });
}
