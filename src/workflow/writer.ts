import { hasKey, openModel, parseModelName } from "../agents/model/provider.ts";
import { openingFor, type PlannerConfig, plannerMeta } from "../agents/planners.ts";
import { HallError, messageOf } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import type { Scope } from "../base/scope.ts";
import type { CallContext } from "../tool.ts";
import type { StepInput } from "./step.ts";

/** A model that writes: a prompt in, text out. Rejects when it cannot. */
export type ModelWriter = (prompt: string, signal: AbortSignal) => Promise<string>;

/** A document of a step. Its draft follows rules; a model may write it instead. */
export interface DocumentForm {
  readonly path: string;
  /** The sections to write, for a model. */
  readonly template: string;
  /** Undefined if only a model writes it. */
  readonly draft: string | undefined;
  /** The faults of a text; none if it has the form. */
  check?(text: string): readonly string[];
}

export interface WrittenDocument {
  /** By path; undefined for documents that are not written. */
  readonly texts: Readonly<Record<string, string | undefined>>;
  readonly notes: readonly string[];
  /** For a caller that is a model and may write the documents itself. */
  readonly forModel?: string | undefined;
}

const repairsMax = 3;
const charactersMax = 256 * 1024;

/**
 * The documents of a step, the main one first: the caller's `content`, those of a model, or the
 * drafts. Throws VALIDATION if `content` does not have the form. `background`: what a model has to
 * know beside the drafts.
 */
export async function writeByForm(
  input: StepInput,
  forms: readonly DocumentForm[],
  background: string,
): Promise<WrittenDocument> {
  const { args, run, context, settings } = input;
  if (typeof args.content === "string") return acceptContent(args.content, forms);
  const writer = await settings.writer(context);
  const [main] = forms;
  if (!writer || !main) return offerForms(forms);

  run.report(30, `A model writes ${main.path}`);
  const drafts = forms.map(({ path, draft = "" }) => `==== ${path}\n\n${draft}`).join("\n\n");
  const first = `Write documents of a feature in Markdown.\n\n${background}\n\n# Templates\n\n${listTemplates(forms)}\n\n# Drafts to start from\n\n${drafts}\n\n# Your answer\n\nAnswer with the documents alone, each after its line "==== path". Keep the facts of the drafts and invent nothing.`;
  let prompt = first;
  let faults: readonly string[] = [];
  for (let attempt = 0; attempt <= repairsMax; attempt++) {
    const text = cleanText(await askWriter(writer, prompt, context.scope));
    const answered = splitDocuments(text, main.path);
    faults = findFaults(answered, forms);
    if (faults.length === 0) return { ...withDrafts(answered, forms), notes: [] };
    run.note(`the model's text does not fit (${faults.join("; ")})`);
    prompt = `${first}\n\n# Your last answer\n\n${text}\n\n# Faults\n\n${faults.map((fault) => `- ${fault}`).join("\n")}\n\nAnswer with all documents again, corrected.`;
  }
  const note = `${main.path} is the draft without a model: the model's text did not fit (${faults.join("; ")})`;
  return { ...withDrafts({}, forms), notes: [note] };
}

function acceptContent(content: string, forms: readonly DocumentForm[]): WrittenDocument {
  const given = splitDocuments(cleanText(content), forms[0]?.path ?? "");
  const faults = findFaults(given, forms);
  if (faults.length === 0) return { ...withDrafts(given, forms), notes: [] };
  throw new HallError("VALIDATION", `content does not have the form: ${faults.join("; ")}`, {
    hint: `Write it by this template and send it again:\n\n${listTemplates(forms)}`,
    details: { faults },
  });
}

function offerForms(forms: readonly DocumentForm[]): WrittenDocument {
  const paths = forms.map(({ path }) => path).join(", ");
  const forModel = `These are drafts by rules: they only quote. To write ${paths} yourself, call this tool again with the same arguments, the feature's folder as spec_directory, and the documents in \`content\`. Say only what the user and the repository say, and keep what people edited. Templates:\n\n${listTemplates(forms)}\n\n`;
  return { ...withDrafts({}, forms), notes: [], forModel };
}

function listTemplates(forms: readonly DocumentForm[]): string {
  return forms.map(({ path, template }) => `==== ${path}\n\n${template}`).join("\n\n");
}

type Texts = Readonly<Record<string, string>>;

/** Documents follow a line "==== path"; without one, the text is the main document. */
function splitDocuments(text: string, main: string): Texts {
  const [before = "", ...rest] = text.split(/^==== (\S+)[ \t]*$/m);
  const texts: Record<string, string> =
    before.trim() === "" ? {} : { [main]: `${before.trim()}\n` };
  for (let at = 0; at + 1 < rest.length; at += 2)
    texts[rest[at] ?? ""] = `${(rest[at + 1] ?? "").trim()}\n`;
  return texts;
}

function findFaults(texts: Texts, forms: readonly DocumentForm[]): readonly string[] {
  const [main] = forms;
  const unknown = Object.keys(texts).filter((path) => !forms.some((form) => form.path === path));
  return [
    ...(main && texts[main.path] === undefined ? [`${main.path} is missing`] : []),
    ...unknown.map((path) => `"${path}" is not a document of this step`),
    ...forms.flatMap(({ path, check }) => {
      const text = texts[path];
      return text === undefined ? [] : (check?.(text) ?? []).map((fault) => `${path}: ${fault}`);
    }),
  ];
}

function withDrafts(texts: Texts, forms: readonly DocumentForm[]): Pick<WrittenDocument, "texts"> {
  return {
    texts: Object.fromEntries(forms.map(({ path, draft }) => [path, texts[path] ?? draft])),
  };
}

async function askWriter(writer: ModelWriter, prompt: string, scope: Scope): Promise<string> {
  try {
    return await scope.race(writer(prompt, scope.signal));
  } catch (error) {
    if (scope.cancelReason) throw scope.cancelReason;
    if (error instanceof HallError) throw error;
    throw new HallError("EXECUTION", `the model could not write: ${messageOf(error)}`, {
      cause: error,
      hint: 'Try again, or set "planner.kind" to "local" for drafts without a model.',
    });
  }
}

/** Removes a code fence around the whole answer. */
function cleanText(text: string): string {
  const inner = /^\s*```(?:markdown|md)?\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;
  return inner.slice(0, charactersMax).replaceAll("\r\n", "\n").trim();
}

const outputTokensMax = 16_000;

/** The configured model if it has a key, else the client's own by sampling. Undefined for drafts without a model. */
export function createModelWriter({
  planner = {},
  secrets,
}: {
  /** The planner of agents also writes for the workflow. */
  readonly planner?: PlannerConfig | undefined;
  readonly secrets: Secrets;
}): (context: CallContext) => Promise<ModelWriter | undefined> {
  return async (context) => {
    const choice = context.meta?.[plannerMeta] ?? planner.kind ?? "auto";
    const sampling = isObject(context.capabilities?.sampling) ? sampleWith(context) : undefined;
    const opening = openingFor(undefined, planner, process.env);
    if (choice === "local") return undefined;
    if (choice === "sampling") return sampling;
    const isReady =
      opening && (choice === "model" || hasKey(parseModelName(opening.model), opening));
    if (!isReady) return choice === "auto" ? sampling : undefined;

    const { takeTurn, explainModelError } = await import("../agents/model/turn.ts");
    const model = await openModel({ ...opening, secrets });
    return async (prompt, signal) => {
      try {
        const { content } = await takeTurn(
          model,
          {
            prompt: [{ role: "user", content: [{ type: "text", text: prompt }] }],
            maxOutputTokens: outputTokensMax,
          },
          { signal, remainingMs: () => context.scope.remainingMs },
        );
        return content.map((part) => (part.type === "text" ? part.text : "")).join("");
      } catch (error) {
        signal.throwIfAborted();
        throw explainModelError(error, { model: opening.model, secrets });
      }
    };
  };
}

function sampleWith(context: CallContext): ModelWriter {
  let asked = 0;
  return async (prompt) => {
    const key = `write-${++asked}`;
    const params = {
      messages: [{ role: "user", content: { type: "text", text: prompt } }],
      maxTokens: outputTokensMax,
    };
    const { [key]: result } = await context.ask({
      [key]: { method: "sampling/createMessage", params },
    });
    const content = result?.content;
    const parts = Array.isArray(content) ? content : [content];
    const text = parts
      .map((part) => (isObject(part) && typeof part.text === "string" ? part.text : ""))
      .join("");
    if (text === "") throw new HallError("BAD_ANSWER", "the client's model returned no text");
    return text;
  };
}
