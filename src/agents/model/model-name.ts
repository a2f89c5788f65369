import { HallError } from "../../base/errors.ts";
import { findNear } from "../../base/near.ts";

/** Which model, and where: `provider/name`. Known here without loading any provider. */
export interface ModelName {
  readonly provider: ProviderName;
  /** The provider's own name for it; may have slashes. */
  readonly name: string;
}

export type ProviderName = keyof typeof providers;

export interface ProviderFacts {
  /** Variables its key is looked for in, the first that is set wins. */
  readonly keyVariables: readonly string[];
  /** Whether it can be asked without a key: on this machine, or with credentials of its own. */
  readonly needsKey: boolean;
  /** Where it is, where the package that speaks to it does not know. */
  readonly baseUrl?: string;
}

const providers = {
  anthropic: { keyVariables: ["ANTHROPIC_API_KEY"], needsKey: true },
  openai: { keyVariables: ["OPENAI_API_KEY"], needsKey: true },
  google: { keyVariables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"], needsKey: true },
  bedrock: { keyVariables: ["AWS_BEARER_TOKEN_BEDROCK"], needsKey: false },
  openrouter: {
    keyVariables: ["OPENROUTER_API_KEY"],
    needsKey: true,
    baseUrl: "https://openrouter.ai/api/v1",
  },
  ollama: { keyVariables: [], needsKey: false, baseUrl: "http://127.0.0.1:11434/v1" },
  "openai-compatible": { keyVariables: ["GUILDHALL_API_KEY"], needsKey: false },
} as const satisfies Record<string, ProviderFacts>;

export const factsOf = (provider: ProviderName): ProviderFacts => providers[provider];

/** Throws INVALID_PARAMS. */
export function parseModelName(text: string): ModelName {
  const at = text.indexOf("/");
  const provider = text.slice(0, at).toLowerCase();
  const name = text.slice(at + 1);
  const known = Object.keys(providers) as ProviderName[];
  const found = known.find((candidate) => candidate === provider);
  if (at < 1 || name === "") {
    throw new HallError("INVALID_PARAMS", `"${text.slice(0, 80)}" does not name a model`, {
      hint: 'Write provider/name, such as "anthropic/NAME".',
    });
  }
  if (found) return { provider: found, name };
  const [near] = findNear(provider, known);
  throw new HallError(
    "INVALID_PARAMS",
    `there is no provider "${provider.slice(0, 40)}"${near === undefined ? "" : `; did you mean ${near}?`}`,
    {
      hint: `There is: ${known.join(", ")}. Any endpoint that speaks OpenAI's form is openai-compatible/NAME with a baseUrl.`,
    },
  );
}
