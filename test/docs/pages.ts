import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** A page of the documentation and its fenced examples. */
export interface Page {
  readonly name: string;
  readonly text: string;
  readonly examples: readonly Example[];
}

export interface Example {
  /** `docs/trust.md:20`, for messages. */
  readonly place: string;
  readonly language: string;
  readonly text: string;
  /** The words of the comment `<!-- test: a=b c -->` above the fence; `c` has the value "". */
  readonly needs: ReadonlyMap<string, string>;
}

export function readPages(): readonly Page[] {
  const docs = readdirSync(`${root}docs`).filter((name) => name.endsWith(".md"));
  return ["README.md", ...docs.map((name) => `docs/${name}`)].map(readPage);
}

export function readPage(name: string): Page {
  const text = readFileSync(`${root}${name}`, "utf8");
  return { name, text, examples: findExamples(name, text) };
}

/** The examples of all pages in some languages. */
export function examplesIn(...languages: readonly string[]): readonly Example[] {
  return readPages().flatMap(({ examples }) =>
    examples.filter(({ language }) => languages.includes(language)),
  );
}

function findExamples(name: string, text: string): readonly Example[] {
  const fences = text.matchAll(/(?:^<!-- test: (.*) -->\n)?^```(\S+)\n([\s\S]*?)^```$/gm);
  return [...fences].map(({ index, 1: needs = "", 2: language = "", 3: body = "" }) => ({
    place: `${name}:${text.slice(0, index).split("\n").length}`,
    language,
    text: body,
    needs: new Map(
      needs
        .split(" ")
        .filter(Boolean)
        .map((word) => word.split("=") as [string, string?])
        .map(([key, value = ""]) => [key, value]),
    ),
  }));
}
