import { pathToFileURL } from "node:url";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { openBrowser as openInBrowser } from "../base/processes.ts";
import { sanitize, wordOf } from "../base/sanitize.ts";
import { Scope } from "../base/scope.ts";
import { urlElicitationRequired } from "../client/questions.ts";
import type { Question, Questions } from "../tool.ts";
import type { Dispatch } from "./events.ts";
import { createForm, readForm } from "./form.ts";
import { keepHead } from "./output.ts";
import type { QuestionView } from "./state.ts";

export interface QuestionSource {
  readonly run: string;
  /** Cancelled when the answer is no longer wanted. */
  readonly scope: Scope;
  /** The user has agreed to the call itself. */
  readonly isConfirmed?: boolean;
}

export interface QuestionQueueOptions {
  readonly folder: string;
  readonly dispatch: Dispatch;
  /** Opens a page the user agreed to; false when it cannot. */
  readonly openBrowser?: ((page: URL) => Promise<boolean>) | undefined;
  /** The configured model, if any. */
  readonly sample?: ((params: JsonObject, signal: AbortSignal) => Promise<JsonObject>) | undefined;
}

/** The keys of a hall's own questions whether a call may run. */
const approvalKey = "approval-";
const messageCharactersMax = 20_000;
const openMax = 50;

type Reply = { readonly action: "accept" | "decline" | "cancel"; readonly values: JsonObject };

interface Waiting {
  resolve(reply: Reply): void;
  reject(reason: HallError): void;
}

/** Questions of servers during a call. The user answers them, or lets the model answer. */
export class QuestionQueue {
  readonly #options: QuestionQueueOptions;
  readonly #waiting = new Map<string, Waiting>();
  #count = 0;

  constructor(options: QuestionQueueOptions) {
    this.#options = options;
  }

  /** The client capabilities that announce these questions. */
  get capabilities(): JsonObject {
    const sampling = this.#options.sample ? { sampling: {} } : {};
    return { elicitation: { form: {}, url: {} }, roots: {}, ...sampling };
  }

  async ask(
    questions: Questions,
    { run, scope, isConfirmed = false }: QuestionSource,
  ): Promise<Readonly<Record<string, JsonObject>>> {
    const answerFor = (key: string, one: Question): Promise<JsonObject> =>
      isConfirmed && key.startsWith(approvalKey)
        ? Promise.resolve({ action: "accept", content: { decision: "once" } })
        : this.#answerOne(one, { run, scope: all });
    // When one question fails, the others are cancelled.
    const all = new Scope(scope);
    try {
      const answers = await Promise.all(
        Object.entries(questions).map(
          async ([key, one]) => [key, await answerFor(key, one)] as const,
        ),
      );
      return Object.fromEntries(answers);
    } finally {
      all.cancel(new HallError("CANCELLED", "the question is closed"));
    }
  }

  /** Answers with the view's current form. A form with mistakes is not sent. */
  answer(view: QuestionView | undefined, action: Reply["action"]): void {
    const read = view && readForm(view.form);
    if (!read || (action === "accept" && "problems" in read)) return;
    this.#waiting.get(view.id)?.resolve({ action, values: "values" in read ? read.values : {} });
  }

  /** Withdraws the questions: the calls that asked have failed with this reason. */
  withdraw(reason: HallError): void {
    for (const { reject } of this.#waiting.values()) reject(reason);
  }

  /** Opens the page and accepts. Throws EXECUTION when it cannot; the question then stays. */
  async openPage(view: QuestionView | undefined): Promise<void> {
    if (!view?.page) return;
    const { openBrowser = openInBrowser } = this.#options;
    if (!(await openBrowser(new URL(view.page.url))))
      throw new HallError("EXECUTION", "no browser could be started", {
        hint: "Open the address yourself, then press a.",
      });
    this.answer(view, "accept");
  }

  async #askUser(view: Omit<QuestionView, "id">, scope: Scope): Promise<Reply> {
    const { dispatch } = this.#options;
    if (this.#waiting.size >= openMax)
      throw new HallError("OVERLOADED", `too many open questions (limit ${openMax})`);
    const id = `question_${++this.#count}`;
    const answered = new Promise<Reply>((resolve, reject) =>
      this.#waiting.set(id, { resolve, reject }),
    );
    dispatch({ kind: "asked", question: { ...view, id } });
    return scope.race(answered).finally(() => {
      this.#waiting.delete(id);
      dispatch({ kind: "question over", question: id });
    });
  }

  #answerOne({ method, params = {} }: Question, source: QuestionSource): Promise<JsonObject> {
    switch (method) {
      case "elicitation/create":
        return this.#elicit(params, source);
      case "sampling/createMessage":
        return this.#sample(params, source);
      case "roots/list": {
        const uri = pathToFileURL(this.#options.folder).href;
        return Promise.resolve({ roots: [{ uri, name: "project" }] });
      }
    }
  }

  async #elicit(params: JsonObject, { run, scope }: QuestionSource): Promise<JsonObject> {
    const text = wordOf(params.message, "The server asks:");
    const message = sanitize(keepHead(text, messageCharactersMax));
    if (params.mode !== "url") {
      const form = createForm(params.requestedSchema);
      const { action, values } = await this.#askUser({ run, kind: "form", message, form }, scope);
      return action === "accept" ? { action, content: values } : { action };
    }
    const page = readPage(params.url);
    if (!page) throw new HallError("INVALID_PARAMS", "the address to open must be http or https");
    const form = createForm({});
    // The server only learns that the user agreed.
    const { action } = await this.#askUser({ run, kind: "page", message, form, page }, scope);
    return { action };
  }

  async #sample(params: JsonObject, { run, scope }: QuestionSource): Promise<JsonObject> {
    const { sample } = this.#options;
    if (!sample) throw new HallError("MISSING_CAPABILITY", "no model is configured for sampling");
    const message = `The server wants to ask your model:\n\n${describeSampling(params)}`;
    const form = createForm({});
    const { action } = await this.#askUser({ run, kind: "sampling", message, form }, scope);
    if (action !== "accept")
      throw new HallError("DENIED", "rejected by the user", {
        relayed: { code: -1, message: "User rejected sampling request" },
      });
    return scope.race(sample(params, scope.signal));
  }
}

const shownCharactersMax = 2_000;

function describeSampling({ systemPrompt, messages }: JsonObject): string {
  const shown = (Array.isArray(messages) ? messages : []).filter(isObject).map((message) => {
    const { role, content } = message;
    const parts = (Array.isArray(content) ? content : [content]).filter(isObject);
    const texts = parts.map(({ text, type }) => wordOf(text, `(${wordOf(type, "?")})`));
    return `${wordOf(role, "?")}: ${texts.join(" ")}`;
  });
  if (typeof systemPrompt === "string") shown.unshift(`system: ${systemPrompt}`);
  const text = sanitize(shown.join("\n"));
  if (text.length <= shownCharactersMax) return text;
  return `${text.slice(0, shownCharactersMax)} … (${text.length} characters)`;
}

/** A page to open in the browser. It is shown in full and never opened by itself. */
export interface BrowserPage {
  /** Percent-encoded, with the host name in Punycode. */
  readonly url: string;
  readonly host: string;
  readonly warnings: readonly string[];
}

const addressCharactersMax = 8_192;

/** Undefined unless it is an http or https address. */
export function readPage(address: unknown): BrowserPage | undefined {
  if (typeof address !== "string" || address.length > addressCharactersMax) return undefined;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  return { url: sanitize(url.href), host: url.host, warnings: warningsOf(url) };
}

function warningsOf({ protocol, hostname, username, password }: URL): readonly string[] {
  const isLocal = /^(?:(?:.*\.)?localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
  const isForeignScript = hostname.split(".").some((label) => label.startsWith("xn--"));
  const warnings = [
    protocol === "http:" && !isLocal && "Not encrypted (http): others can read what you enter.",
    isForeignScript && "The name has letters of other scripts and may imitate a name you know.",
    username + password !== "" &&
      "The part before the @ is not the host; only the rest is visited.",
  ];
  return warnings.filter((warning) => warning !== false);
}

const pagesMax = 5;

/** The pages that a server's refusal asks the user to visit first, as questions. */
export function pagesNeeded(error: unknown): Questions | undefined {
  if (!(error instanceof HallError) || error.relayed?.code !== urlElicitationRequired)
    return undefined;
  const { elicitations } = isObject(error.relayed.data) ? error.relayed.data : {};
  const pages = (Array.isArray(elicitations) ? elicitations : []).filter(isObject);
  return Object.fromEntries(
    pages
      .slice(0, pagesMax)
      .map((params, index) => [
        `page ${index}`,
        { method: "elicitation/create", params: { ...params, mode: "url" } },
      ]),
  );
}
