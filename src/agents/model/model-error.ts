import { APICallError } from "@ai-sdk/provider";
import { type ErrorCode, HallError, messageOf } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";
import type { Secrets } from "../../base/log.ts";
import { CutOff } from "./turn.ts";

/** What went wrong with a model, and what to do about it. Nothing of the request is in it, and no key. */
export function explainModelError(
  error: unknown,
  { model, secrets }: { readonly model: string; readonly secrets: Secrets },
): HallError {
  if (error instanceof HallError) return error;
  const clean = (text: string): string => secrets.scrub(text);
  if (error instanceof CutOff)
    return new HallError("UNAVAILABLE", `${model}: the answer was cut off`);
  if (!APICallError.isInstance(error))
    return new HallError("UNAVAILABLE", clean(`${model}: ${describe(error)}`), {
      hint: "Run `guildhall models test`.",
    });
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
  const { code, hint } =
    meanings.find(({ statuses }) => statuses.includes(statusCode)) ??
    (statusCode >= 500 ? busy : refused);
  return new HallError(code, clean(`${model} answered ${statusCode}: ${describe(error)}`), {
    hint,
  });
}

interface Meaning {
  readonly statuses: readonly number[];
  readonly code: ErrorCode;
  readonly hint: string;
}

const meanings: readonly Meaning[] = [
  {
    statuses: [401, 403],
    code: "DENIED",
    hint: "The key was refused: set the right one before the hall starts, and run `guildhall models test`.",
  },
  {
    statuses: [404],
    code: "NOT_FOUND",
    hint: "Check the model's name and planner.baseUrl with `guildhall models test`.",
  },
  {
    statuses: [402, 429],
    code: "RATE_LIMITED",
    hint: "The provider's limit is reached: wait, or use another model.",
  },
  { statuses: [408], code: "TIMEOUT", hint: "Try again later." },
  { statuses: [413], code: "TOO_LARGE", hint: "Ask for less at once." },
];
const busy: Meaning = {
  statuses: [],
  code: "UNAVAILABLE",
  hint: "The provider has a problem of its own: try again later.",
};
const refused: Meaning = {
  statuses: [],
  code: "EXECUTION",
  hint: "Read the provider's words; `guildhall models test` tries the smallest request.",
};

const charactersMax = 300;

/** The provider's own words, which are in another place with each of them. */
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
    // Not JSON: a proxy's page, or nothing. The status says enough.
    return undefined;
  }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "its address";
}
