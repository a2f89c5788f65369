import { readFile } from "node:fs/promises";
import { text as readText } from "node:stream/consumers";
import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { visibleLines } from "../../base/sanitize.ts";
import type { Scope } from "../../base/scope.ts";
import type { HallClient } from "../../hall/hall-client.ts";
import { type SavedFilePlace, saveProgram } from "../../hall/project-texts.ts";
import type { Language } from "../../toolkits/programs/protocol.ts";
import { formatBlockedCalls } from "../advice.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject, withHall } from "../hall.ts";
import { print } from "../print.ts";
import { isAttended } from "../terminal.ts";
import { contentOf } from "./call.ts";

interface ProgramOptions extends JsonOption {
  /** Allows tools that may destroy or send. */
  readonly act?: boolean;
  /** The name of the tool that the program becomes if it works. */
  readonly save?: string;
  readonly description?: string;
}

/** Runs a program from a file or a pipe, or a REPL at a terminal, in the running hall if there is one. */
export async function runLisp(file: string | undefined, options: ProgramOptions): Promise<void> {
  if (file === undefined && isAttended(options)) {
    const { runRepl } = await import("./lisp-repl.ts");
    await withHall((client) => runRepl(new LispClient(client, options)));
    return;
  }
  await runProgram("lisp", file, options);
}

/** The same in JavaScript or TypeScript, from a file or a pipe. */
export function runJs(file: string | undefined, options: ProgramOptions): Promise<void> {
  return runProgram("js", file, options);
}

async function runProgram(
  language: Language,
  file: string | undefined,
  options: ProgramOptions,
): Promise<void> {
  const code =
    file === undefined || file === "-" ? await readText(process.stdin) : await readProgram(file);
  await withHall(async (client) => {
    const { result, text } = await new LispClient(client, options, language).evaluate(code);
    const failure = failureOf(result, options);
    const saved = failure ? undefined : await save(language, code, options);
    const note = saved
      ? `\nsaved as ${saved.file}: the tool ${saved.tool}, once you approve it with \`guildhall verify\``
      : "";
    const shown = saved ? { ...result, saved } : result;
    print(shown, `${visibleLines(text)}${note}`, { ...options, failure });
  });
}

async function save(
  language: Language,
  code: string,
  { save: name, description, act = false }: ProgramOptions,
): Promise<SavedFilePlace | undefined> {
  if (name === undefined) return undefined;
  const { folder } = await loadProject();
  const mode = act ? "act" : "explore";
  return saveProgram(folder, { name, language, code, description, mode });
}

function failureOf(
  { isError, structuredContent }: JsonObject,
  { json }: ProgramOptions,
): HallError | undefined {
  if (!isError) return undefined;
  const { condition } = (structuredContent ?? {}) as { condition?: { type: string } };
  return new HallError("EXECUTION", `the program ended with ${condition?.type ?? "an error"}`, {
    hint: `Its output and error are ${json ? "in `details`" : "on stdout"}.`,
  });
}

/** One session in the hall. */
export class LispClient {
  readonly #client: HallClient;
  readonly #language: Language;
  #session: string | undefined;
  mode: "explore" | "act";
  /** The current package, for the prompt. */
  package = "COMMON-LISP-USER";

  constructor(client: HallClient, { act = false }: ProgramOptions, language: Language = "lisp") {
    this.#client = client;
    this.#language = language;
    this.mode = act ? "act" : "explore";
  }

  async evaluate(
    code: string,
    scope?: Scope,
  ): Promise<{ readonly result: JsonObject; readonly text: string }> {
    const result = await this.#call(`evaluate-${this.#language}`, { code, mode: this.mode }, scope);
    const blocked = formatBlockedCalls(result, this.#client.isEphemeral);
    return { result, text: [textOf(result), ...blocked].join("\n") };
  }

  /** A companion of `evaluate-lisp`, in the same session. */
  async ask(tool: string): Promise<string> {
    return textOf(await this.#call(tool, {}));
  }

  async #call(name: string, args: JsonObject, scope?: Scope): Promise<JsonObject> {
    const params = { name, arguments: { ...args, session: this.#session } };
    const result = await this.#client.request("tools/call", params, { scope });
    const { session, package: current } = isObject(result.structuredContent)
      ? result.structuredContent
      : {};
    if (typeof session === "string") this.#session = session;
    if (typeof current === "string") this.package = current;
    return result;
  }
}

function textOf(result: JsonObject): string {
  return contentOf(result)
    .map(({ type, text }) => String(text ?? `[${type}]`))
    .join("\n");
}

async function readProgram(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new HallError("NOT_FOUND", `cannot read "${file}"`, {
      cause,
      hint: "Give the path of a program, or - for stdin.",
    });
  }
}
