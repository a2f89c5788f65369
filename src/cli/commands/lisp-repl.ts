import { appendFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline/promises";
import { HallError } from "../../base/errors.ts";
import { dataFolder } from "../../base/files.ts";
import { visibleLines } from "../../base/sanitize.ts";
import { Scope } from "../../base/scope.ts";
import { checkSyntax } from "../../lisp/lisp.ts";
import { paint } from "../print.ts";
import type { LispClient } from "./lisp.ts";

const help = `Type Common Lisp; a form may span several lines. Tab completes symbols and tools.
  ,help               show this help
  ,tools WORDS        find tools
  ,mode act|explore   allow or refuse tools that may destroy or send
  ,definitions        list definitions
  ,limits             show the limits of an evaluation
  ,error              show the last error with its backtrace
  ,reset              start a new session
  ,quit               quit (or Ctrl-D)
Ctrl-C stops the evaluation, or clears the input.`;

const historyMax = 500;

/** Reads, evaluates and prints until the input ends. */
export async function runRepl(lisp: LispClient): Promise<void> {
  const historyFile = join(dataFolder(), "lisp-history");
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    history: await readHistory(historyFile),
    historySize: historyMax,
    completer: (line: string) => complete(lisp, line),
  });
  process.stdout.write(`Guildhall Lisp, ${lisp.mode} mode. Type ,help for help, Ctrl-D to quit.\n`);
  let running: Scope | undefined;
  let typed = "";
  let clearInput: AbortController | undefined;
  lines.on("SIGINT", () => {
    if (running) running.cancel(new HallError("CANCELLED", "stopped by Ctrl-C"));
    else clearInput?.abort();
  });
  const ended = new AbortController();
  lines.once("close", () => ended.abort());
  try {
    while (!ended.signal.aborted) {
      clearInput = new AbortController();
      const line = await readLine(
        lines,
        typed === "" ? `${shortName(lisp.package)}> ` : "... ",
        AbortSignal.any([clearInput.signal, ended.signal]),
      );
      if (line === undefined) {
        // Ctrl-C clears the input; the end of the input ends the REPL.
        if (!ended.signal.aborted) process.stdout.write("\n");
        typed = "";
        continue;
      }
      typed = typed === "" ? line : `${typed}\n${line}`;
      if (typed.trim() === "") typed = "";
      else if (typed.startsWith(",")) {
        if (!(await command(lisp, typed.trim()))) break;
        typed = "";
      } else if (checkSyntax(typed).kind !== "unfinished") {
        void saveHistory(historyFile, typed);
        running = new Scope();
        process.stdout.write(`${await evaluate(lisp, typed, running)}\n`);
        running = undefined;
        typed = "";
      }
    }
  } finally {
    lines.close();
  }
}

async function readLine(
  lines: Interface,
  prompt: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await lines.question(prompt, { signal });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

async function evaluate(lisp: LispClient, code: string, scope: Scope): Promise<string> {
  try {
    const { result, text } = await lisp.evaluate(code, scope);
    return result.isError ? paint("red", visibleLines(text)) : visibleLines(text);
  } catch (error) {
    if (!(error instanceof HallError)) throw error;
    return paint("red", `${error.message}\n${error.hint}`);
  }
}

/** Returns false for the command that quits. */
async function command(lisp: LispClient, line: string): Promise<boolean> {
  const [name = "", ...words] = line.slice(1).split(/\s+/);
  const rest = words.join(" ");
  const show = (text: string): boolean => process.stdout.write(`${visibleLines(text)}\n`) || true;
  switch (name) {
    case "quit":
    case "q":
      return false;
    case "help":
    case "h":
      return show(help);
    case "tools":
      return show(await findTools(lisp, rest));
    case "mode":
      if (rest !== "act" && rest !== "explore")
        return show(`The mode is ${lisp.mode}. Change it with ,mode act or ,mode explore.`);
      lisp.mode = rest;
      return show(`The mode is ${rest}.`);
    default: {
      const tool = companions.get(name);
      if (tool === undefined) return show(`Unknown command ,${name}. Type ,help for help.`);
      return show(await lisp.ask(tool));
    }
  }
}

/** The commands that are tools of the hall. */
const companions = new Map([
  ["definitions", "list-definitions"],
  ["limits", "configure-limits"],
  ["error", "describe-last-error"],
  ["reset", "reset-session"],
]);

async function findTools(lisp: LispClient, words: string): Promise<string> {
  const { result, text } = await lisp.evaluate(
    `(loop for tool across (find-tools ${JSON.stringify(words)}) do (format t "~a~%" (jref tool "signature")))`,
  );
  const { stdout } = (result.structuredContent ?? {}) as { stdout?: string };
  return result.isError ? text : (stdout ?? "").trimEnd();
}

/** Completes the symbol before the cursor. */
async function complete(lisp: LispClient, line: string): Promise<[string[], string]> {
  const [prefix = ""] = /[^\s()'"`,;#]*$/.exec(line) ?? [];
  if (prefix === "") return [[], ""];
  const { result } = await lisp.evaluate(`(completions ${JSON.stringify(prefix)})`);
  const [value] = (result.structuredContent as { values?: string[] } | undefined)?.values ?? [];
  // A printed list of strings.
  const names = [...(value ?? "").matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, name = ""]) => name);
  return [names, prefix];
}

function shortName(name: string): string {
  return name === "COMMON-LISP-USER" ? "CL-USER" : name;
}

/** Newest first, as readline wants it. */
async function readHistory(file: string): Promise<string[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").filter(Boolean).slice(-historyMax).reverse();
}

async function saveHistory(file: string, code: string): Promise<void> {
  try {
    await mkdir(dataFolder(), { recursive: true, mode: 0o700 });
    await appendFile(file, `${code.replaceAll("\n", " ")}\n`, { mode: 0o600 });
  } catch {
    // The history is optional: continue without it.
  }
}
