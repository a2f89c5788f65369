import { APICallError } from "@ai-sdk/provider";
import type { Advice } from "../../base/advice.ts";
import { type ErrorCode, HallError, messageOf } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";
import type { Secrets } from "../../base/log.ts";
import { CutOff } from "./turn.ts";

/** A model's failure as one of ours. Contains no key and nothing of the request. */
export function explainModelError(
  error: unknown,
  { model, secrets }: { readonly model: string; readonly secrets: Secrets },
): HallError {
  if (error instanceof HallError) return error;
  const clean = (text: string): string => secrets.scrub(text);
  if (error instanceof CutOff)
    return new HallError("UNAVAILABLE", `${model}: the answer was cut off`);
  if (!APICallError.isInstance(error))
    return new HallError("UNAVAILABLE", clean(`${model}: ${describe(error)}`), { next: [test] });
  const { statusCode } = error;
  if (statusCode === undefined) {
    return new HallError(
      "UNAVAILABLE",
      clean(`${model} cannot be reached at ${originOf(error.url)}`),
      {
        hint: "Check planner.baseUrl and the network; for a model on this machine, start its server.",
      },
    );
  }
  const { code, hint, next } =
    meanings.find(({ statuses }) => statuses.includes(statusCode)) ??
    (statusCode >= 500 ? busy : refused);
  return new HallError(code, clean(`${model} answered ${statusCode}: ${describe(error)}`), {
    hint,
    next: next ?? [],
  });
}

interface Meaning {
  readonly statuses: readonly number[];
  readonly code: ErrorCode;
  readonly hint: string;
  readonly next?: readonly Advice[];
}

const test: Advice = { do: "run-command", command: "models test" };

const meanings: readonly Meaning[] = [
  {
    statuses: [401, 403],
    code: "DENIED",
    hint: "The provider refused the key.",
    next: [test],
  },
  {
    statuses: [404],
    code: "NOT_FOUND",
    hint: "Check the model's name and planner.baseUrl.",
    next: [test],
  },
  {
    statuses: [402, 429],
    code: "RATE_LIMITED",
    hint: "The provider's rate or spending limit is reached: wait, or use another model.",
  },
  { statuses: [408], code: "TIMEOUT", hint: "Retry later." },
  { statuses: [413], code: "TOO_LARGE", hint: "Shorten the task or its data." },
];
const busy: Meaning = {
  statuses: [],
  code: "UNAVAILABLE",
  hint: "The provider has a problem: retry later.",
};
const refused: Meaning = {
  statuses: [],
  code: "EXECUTION",
  hint: "See the provider's message.",
  next: [test],
};

const charactersMax = 300;

/** The provider's own message. */
function describe(error: unknown): string {
  const body = APICallError.isInstance(error) ? readBody(error.responseBody) : undefined;
  const text = body ?? messageOf(error);
  return text.replace(/\s+/g, " ").trim().slice(0, charactersMax);
}

function readBody(text: string | undefined): string | undefined {
  try {
    const body: unknown = JSON.parse(text ?? "");
    const inner = isObject(body) ? (body.error ?? body.message) : undefined;
    const message = isObject(inner) ? inner.message : inner;
    return typeof message === "string" ? message : undefined;
  } catch {
    // A proxy's HTML page or an empty body: the status is enough.
    return undefined;
  }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "its address";
}
