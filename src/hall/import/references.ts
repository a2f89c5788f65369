import { isObject } from "../../base/json.ts";
import { type Machine, pathsOf } from "./machine.ts";

/** How a client's values name variables, and what each name is in our config, where it can be said there at all. */
export interface References {
  readonly pattern: RegExp;
  read(match: RegExpExecArray, machine: Machine): string | undefined;
}

export interface Rewritten {
  readonly value: unknown;
  /** References that only the client itself can resolve. */
  readonly unknown: readonly string[];
}

/** The same value with every reference in our words; what looks like one of ours without being meant as one is kept from becoming it. */
export function rewriteReferences(
  value: unknown,
  references: References,
  machine: Machine,
): Rewritten {
  const unknown: string[] = [];

  function rewriteText(text: string): string {
    let rewritten = "";
    let end = 0;
    for (const match of text.matchAll(references.pattern)) {
      const said = references.read(match, machine);
      if (said === undefined) unknown.push(match[0]);
      rewritten += plain(text.slice(end, match.index)) + (said ?? plain(match[0]));
      end = match.index + match[0].length;
    }
    return rewritten + plain(text.slice(end));
  }

  function rewrite(inner: unknown): unknown {
    if (typeof inner === "string") return rewriteText(inner);
    if (Array.isArray(inner)) return inner.map(rewrite);
    return isObject(inner)
      ? Object.fromEntries(Object.entries(inner).map(([key, each]) => [key, rewrite(each)]))
      : inner;
  }

  return { value: rewrite(value), unknown };
}

/** Text is text: this client knows no variables. */
export const noReferences: References = { pattern: /(?!)/g, read: () => undefined };

/** `${NAME}` and `${NAME:-otherwise}`: as in our config. */
export const shellReferences: References = {
  pattern: /\$\{([A-Za-z_]\w*)(?::-([^{}]*))?\}/g,
  read: ([written]) => written,
};

/** `${env:NAME}`, `${userHome}`, `${workspaceFolder}` and their like, as editors of the VS Code family have them. */
export const editorReferences: References = {
  pattern: /\$\{(?:(\w+):)?([^{}]*)\}/g,
  read({ 1: kind, 2: name = "", index }, machine) {
    if (kind === "env") return variable(name);
    // What the client asks a person for is a variable here.
    if (kind === "input") return variable(variableName(name));
    if (kind !== undefined) return undefined;
    const { sep, basename } = pathsOf(machine);
    switch (name) {
      case "workspaceFolder":
        // The hall runs in the project's folder, and so do its servers.
        return index === 0 ? "." : machine.folder;
      case "workspaceFolderBasename":
        return basename(machine.folder);
      case "userHome":
        return variable(machine.platform === "win32" ? "USERPROFILE" : "HOME");
      case "pathSeparator":
      case "/":
        return sep;
    }
    return undefined;
  },
};

export function variable(name: string): string {
  return `\${${name}}`;
}

/** Any words as a variable's name: "api-key" is API_KEY. */
export function variableName(words: string): string {
  const name = words
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z\d]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase();
  return /^[A-Z]/.test(name) ? name.slice(0, 90) : `VALUE_${name}`.slice(0, 90);
}

function plain(text: string): string {
  // By a function: in a text, `$$` would stand for one `$`.
  return text.replace(/\$\{/g, () => "$${");
}
