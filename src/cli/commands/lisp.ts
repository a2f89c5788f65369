import { readFile } from "node:fs/promises";
import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { visibleLines } from "../../base/sanitize.ts";
import type { Scope } from "../../base/scope.ts";
import type { HallClient } from "../../hall/hall-client.ts";
import { formatBlockedCalls } from "../advice.ts";
import { withHall } from "../hall.ts";
import { print } from "../print.ts";
import { isAttended } from "../terminal.ts";
import { contentOf } from "./call.ts";

export interface LispOptions {
  readonly json?: boolean;
  /** Allows tools that may destroy or send. */
  readonly act?: boolean;
}

/** Runs a program from a file or a pipe, or a REPL at a terminal, in the running hall if there is one. */
export async function runLisp(file: string | undefined, options: LispOptions): Promise<void> {
  if (file === undefined && isAttended(options)) {
    const { runRepl } = await import("./lisp-repl.ts");
    await withHall((client) => runRepl(createLispClient(client, options)));
    return;
  }
  const code =
    file === undefined || file === "-" ? await readAll(process.stdin) : await readProgram(file);
  await withHall(async (client) => {
    const { result, text } = await createLispClient(client, options).evaluate(code);
    print(result, {
      json: options.json,
      text: () => visibleLines(text),
      failure: failureOf(result, options),
    });
  });
}

function failureOf(
  { isError, structuredContent }: JsonObject,
  { json }: LispOptions,
): HallError | undefined {
  if (!isError) return undefined;
  const { condition } = (structuredContent ?? {}) as { condition?: { type: string } };
  return new HallError("EXECUTION", `the program ended with ${condition?.type ?? "an error"}`, {
    hint: `Its output and error are ${json ? "in `details`" : "on stdout"}.`,
  });
}

/** One session in the hall. */
export interface LispClient {
  mode: "explore" | "act";
  /** The current package, for the prompt. */
  readonly package: string;
  evaluate(
    code: string,
    scope?: Scope,
  ): Promise<{ readonly result: JsonObject; readonly text: string }>;
  /** A companion of `evaluate-lisp`, in the same session. */
  ask(tool: string, args?: JsonObject): Promise<string>;
}

export function createLispClient(client: HallClient, { act = false }: LispOptions): LispClient {
  let session: string | undefined;
  let current = "COMMON-LISP-USER";
  let mode: LispClient["mode"] = act ? "act" : "explore";
  async function call(name: string, args: JsonObject, scope?: Scope): Promise<JsonObject> {
    const inSession = session === undefined || name === "validate-syntax" ? {} : { session };
    const result = await client.request(
      "tools/call",
      { name, arguments: { ...args, ...inSession } },
      scope ? { scope } : {},
    );
    const { structuredContent } = result;
    if (isObject(structuredContent)) {
      if (typeof structuredContent.session === "string") session = structuredContent.session;
      if (typeof structuredContent.package === "string") current = structuredContent.package;
    }
    return result;
  }
  return {
    get mode() {
      return mode;
    },
    set mode(next) {
      mode = next;
    },
    get package() {
      return current;
    },
    async evaluate(code, scope) {
      const result = await call("evaluate-lisp", { code, mode }, scope);
      const blocked = formatBlockedCalls(result, client.isEphemeral);
      return { result, text: [textOf(result), ...blocked].join("\n") };
    },
    ask: async (tool, args = {}) => textOf(await call(tool, args)),
  };
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
      hint: "Give the path of a file with Lisp forms, or - for stdin.",
    });
  }
}

async function readAll(stream: NodeJS.ReadStream): Promise<string> {
  let text = "";
  stream.setEncoding("utf8");
  for await (const piece of stream) text += piece;
  return text;
}
