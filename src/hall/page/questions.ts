import { randomBytes } from "node:crypto";
import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Scope } from "../../base/scope.ts";
import type { Question, Questions } from "../../tool.ts";
import type { HallEvents } from "../events.ts";
import { method } from "./area.ts";

export interface PageQuestion {
  readonly id: string;
  /** The page's name for the call. */
  readonly key: string;
  readonly tool: string;
  readonly message: string;
  /** Of the answer; undefined if the person is to visit `url` instead. */
  readonly schema: JsonObject | undefined;
  readonly url: string | undefined;
  readonly askedAt: number;
}

/** The call that asks. */
interface Asking {
  readonly key: string;
  readonly principal: string;
  readonly tool: string;
}

export type PageQuestions = ReturnType<typeof createQuestions>;

interface Open {
  readonly principal: string;
  readonly question: PageQuestion;
  answer(given: JsonObject): void;
}

const answerMsMax = 10 * 60_000;
const actions = ["accept", "decline", "cancel"];

/**
 * Questions of tools that the page has called (elicitation): a form to fill in, or an address to
 * visit. They belong to the person who called, and stay open when the page is loaded again.
 */
export function createQuestions(events: HallEvents) {
  const open = new Map<string, Open>();
  const changed = (): void => events.emit({ type: "changed", what: "questions" });

  function put(asking: Asking, question: Question, asked: Scope): Promise<JsonObject> {
    const { key, principal, tool } = asking;
    const id = randomBytes(12).toString("hex");
    return new Promise((resolve) => {
      let stop = (): void => {};
      const answer = (given: JsonObject): void => {
        clearTimeout(timer);
        stop();
        if (open.delete(id)) changed();
        resolve(given);
      };
      const timer = setTimeout(() => answer({ action: "cancel" }), answerMsMax).unref();
      const shown = { id, key, tool, askedAt: Date.now(), ...readParams(question.params) };
      open.set(id, { principal, question: shown, answer });
      changed();
      stop = asked.onCancel(() => answer({ action: "cancel" }));
    });
  }

  return {
    /** Throws MISSING_CAPABILITY for questions that are not for a person. */
    async ask(
      asking: Asking,
      questions: Questions,
      asked: Scope,
    ): Promise<Readonly<Record<string, JsonObject>>> {
      const all = Object.entries(questions);
      if (all.some(([, { method }]) => method !== "elicitation/create"))
        throw new HallError("MISSING_CAPABILITY", "the page supports neither sampling nor roots");
      const answers = all.map(
        async ([name, question]) => [name, await put(asking, question, asked)] as const,
      );
      return Object.fromEntries(await Promise.all(answers));
    },
    area: {
      questions: method("call", {}, async (_none, caller) => ({
        questions: [...open.values()]
          .filter(({ principal }) => principal === caller.principal)
          .map(({ question }) => question),
      })),
      /** Throws NOT_FOUND for a question that is not open any more. */
      answerQuestion: method(
        "call",
        { id: "string", action: "string", content: "object?" },
        async ({ id, action, content }, caller) => {
          const found = open.get(id);
          if (found?.principal !== caller.principal)
            throw new HallError("NOT_FOUND", "this question is not open any more");
          if (!actions.includes(action))
            throw new HallError("INVALID_PARAMS", `"action" must be one of ${actions.join(", ")}`);
          found.answer(content === undefined ? { action } : { action, content });
          return {};
        },
      ),
    },
  };
}

function readParams(params: JsonObject = {}): Pick<PageQuestion, "message" | "schema" | "url"> {
  const { message, mode, url, requestedSchema } = params;
  const isUrl = mode === "url" && typeof url === "string";
  return {
    message: typeof message === "string" ? message : "",
    schema: !isUrl && isObject(requestedSchema) ? requestedSchema : undefined,
    url: isUrl ? url : undefined,
  };
}
