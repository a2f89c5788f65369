import { pathToFileURL } from "node:url";
import { openBrowser as openInBrowser } from "../base/browser.ts";
import { HallError } from "../base/errors.ts";
import { makeHarmless, wordOf } from "../base/harmless.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import type { Question, Questions } from "../tool.ts";
import type { TuiEvent } from "./events.ts";
import { createForm, readForm } from "./form.ts";
import { keepHead } from "./output.ts";
import { readPage } from "./page.ts";
import type { QuestionView } from "./state.ts";

/** What servers ask while a call runs, and who answers: a person at the form, a model after a person's yes, or nobody at all. */
export interface Desk {
  /** For a modern server, and for the handshake with a legacy one. */
  readonly capabilities: JsonObject;
  ask(questions: Questions, from: AskedBy): Promise<Readonly<Record<string, JsonObject>>>;
  /** `view` as it stands in the state, with what was filled in; undefined where it is gone. A form with mistakes in it is not sent. */
  answer(view: QuestionView | undefined, action: Reply["action"]): void;
  /** Opens the page that is asked for, which is a yes to it. Throws EXECUTION where it cannot be opened; the question then stays. */
  openPage(view: QuestionView | undefined): Promise<void>;
}

export interface AskedBy {
  readonly run: string;
  /** Cancelled when nobody wants to know any more. */
  readonly scope: Scope;
}

export interface DeskOptions {
  readonly folder: string;
  tell(event: TuiEvent): void;
  /** Opens a page a person has agreed to; false where it cannot. Default: the person's browser. */
  readonly openBrowser?: ((page: URL) => Promise<boolean>) | undefined;
  /** The configured model; undefined where there is none. */
  readonly sample?: ((params: JsonObject, signal: AbortSignal) => Promise<JsonObject>) | undefined;
}

const messageCharactersMax = 20_000;
/** More at once than anybody answers. */
const openMax = 50;

type Reply = { readonly action: "accept" | "decline" | "cancel"; readonly values: JsonObject };

export function createDesk({
  folder,
  tell,
  openBrowser = openInBrowser,
  sample,
}: DeskOptions): Desk {
  const waiting = new Map<string, (reply: Reply) => void>();
  let count = 0;

  /** Puts the question on the screen and waits. */
  async function askPerson(view: Omit<QuestionView, "id">, scope: Scope): Promise<Reply> {
    if (waiting.size >= openMax)
      throw new HallError("OVERLOADED", `${openMax} questions already wait for a person`);
    const id = `question_${++count}`;
    const answered = new Promise<Reply>((resolve) => waiting.set(id, resolve));
    tell({ kind: "asked", question: { ...view, id } });
    return scope.race(answered).finally(() => {
      waiting.delete(id);
      tell({ kind: "question over", question: id });
    });
  }

  async function elicit(params: JsonObject, { run, scope }: AskedBy): Promise<JsonObject> {
    const message = makeHarmless(
      keepHead(wordOf(params.message, "The server asks:"), messageCharactersMax),
    );
    if (params.mode === "url") return visit({ message, address: params.url, run, scope });
    const { action, values } = await askPerson(
      { run, kind: "form", message, form: createForm(params.requestedSchema) },
      scope,
    );
    return action === "accept" ? { action, content: values } : { action };
  }

  /** The answer is only that a person agreed: what they do on the page is between them and the page. */
  async function visit({
    message,
    address,
    run,
    scope,
  }: AskedBy & { readonly message: string; readonly address: unknown }): Promise<JsonObject> {
    const page = readPage(address);
    if (!page)
      throw new HallError("INVALID_PARAMS", "the address to open is not one of https or http");
    const { action } = await askPerson(
      { run, kind: "page", message, form: createForm({}), page },
      scope,
    );
    return { action };
  }

  async function lendModel(params: JsonObject, { run, scope }: AskedBy): Promise<JsonObject> {
    if (!sample) throw new HallError("MISSING_CAPABILITY", "no model is configured for sampling");
    const message = `The server wants to ask your model:\n\n${describeSampling(params)}`;
    const { action } = await askPerson(
      { run, kind: "sampling", message, form: createForm({}) },
      scope,
    );
    if (action !== "accept")
      throw new HallError("DENIED", "the user refused", {
        relayed: { code: -1, message: "User rejected sampling request" },
      });
    return scope.race(sample(params, scope.signal));
  }

  function answerOne({ method, params = {} }: Question, from: AskedBy): Promise<JsonObject> {
    switch (method) {
      case "elicitation/create":
        return elicit(params, from);
      case "sampling/createMessage":
        return lendModel(params, from);
      case "roots/list":
        return Promise.resolve({ roots: [{ uri: pathToFileURL(folder).href, name: "project" }] });
    }
  }

  function answer(view: QuestionView | undefined, action: Reply["action"]): void {
    const read = view && readForm(view.form);
    if (!read || (action === "accept" && "problems" in read)) return;
    waiting.get(view.id)?.({ action, values: "values" in read ? read.values : {} });
  }

  return {
    capabilities: {
      elicitation: { form: {}, url: {} },
      roots: {},
      ...(sample ? { sampling: {} } : {}),
    },
    async ask(questions, { run, scope }) {
      // When one cannot be answered, the others need not be.
      const all = new Scope(scope);
      try {
        const answers = await Promise.all(
          Object.entries(questions).map(
            async ([key, one]) => [key, await answerOne(one, { run, scope: all })] as const,
          ),
        );
        return Object.fromEntries(answers);
      } finally {
        all.cancel(new HallError("CANCELLED", "the question is over"));
      }
    },
    answer,
    async openPage(view) {
      if (!view?.page) return;
      if (!(await openBrowser(new URL(view.page.url))))
        throw new HallError("EXECUTION", "no browser could be started", {
          hint: "Open the address yourself, then say so with a.",
        });
      answer(view, "accept");
    },
  };
}

const shownCharactersMax = 2_000;

function describeSampling({ systemPrompt, messages }: JsonObject): string {
  const said = (Array.isArray(messages) ? messages : [])
    .filter(isObject)
    .map(({ role, content }) => {
      const parts = (Array.isArray(content) ? content : [content]).filter(isObject);
      return `${wordOf(role, "?")}: ${parts.map(({ text, type }) => wordOf(text, `(${wordOf(type, "?")})`)).join(" ")}`;
    });
  const text = makeHarmless(
    [...(typeof systemPrompt === "string" ? [`system: ${systemPrompt}`] : []), ...said].join("\n"),
  );
  return text.length > shownCharactersMax
    ? `${text.slice(0, shownCharactersMax)} … (${text.length} characters)`
    : text;
}
