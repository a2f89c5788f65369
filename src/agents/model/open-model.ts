import type { LanguageModelV3 } from "@ai-sdk/provider";
import { HallError } from "../../base/errors.ts";
import type { Secrets } from "../../base/log.ts";
import { type KeySource, readKey } from "./api-key.ts";
import { factsOf, type ModelName, type ProviderName, parseModelName } from "./model-name.ts";
import { fetchFromProvider } from "./provider-fetch.ts";

/** A model as the AI SDK's providers offer it: what a turn needs, whoever serves it. */
export interface OpenModelOptions extends KeySource {
  /** `provider/name`. */
  readonly model: string;
  readonly baseUrl?: string | undefined;
  /** Keys are added to it, so that no log and no row ever has one. */
  readonly secrets: Secrets;
}

/** Loads the provider's package and nothing of the others. Throws INVALID_PARAMS, or UNAVAILABLE where there is no key. */
export async function openModel({
  model,
  baseUrl,
  secrets,
  ...source
}: OpenModelOptions): Promise<LanguageModelV3> {
  const name = parseModelName(model);
  const address = baseUrl ?? factsOf(name.provider).baseUrl;
  if (name.provider === "openai-compatible" && address === undefined) {
    throw new HallError("INVALID_PARAMS", `${model} needs planner.baseUrl`, {
      hint: "Such as http://127.0.0.1:8000/v1.",
    });
  }
  const apiKey = await readKey(name, source);
  if (apiKey !== undefined) secrets.add(apiKey);
  return openers[name.provider](name, { apiKey, baseUrl: address, env: source.env });
}

interface Opening {
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

type Opener = (name: ModelName, opening: Opening) => Promise<LanguageModelV3>;

const openCompatible: Opener = async ({ provider, name }, opening) => {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  return createOpenAICompatible({
    baseURL: "",
    ...settingsOf(opening),
    name: provider,
    includeUsage: true,
  })(name);
};

const openers: Readonly<Record<ProviderName, Opener>> = {
  anthropic: async ({ name }, opening) =>
    (await import("@ai-sdk/anthropic")).createAnthropic(settingsOf(opening))(name),
  // The chat form: the other one keeps conversations at the provider unless told not to.
  openai: async ({ name }, opening) =>
    (await import("@ai-sdk/openai")).createOpenAI(settingsOf(opening)).chat(name),
  google: async ({ name }, opening) =>
    (await import("@ai-sdk/google")).createGoogleGenerativeAI(settingsOf(opening))(name),
  async bedrock({ name }, { env, ...opening }) {
    const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
    const region = env.AWS_REGION ?? env.AWS_DEFAULT_REGION;
    return createAmazonBedrock({
      ...settingsOf(opening),
      ...(region === undefined ? {} : { region }),
    })(name);
  },
  openrouter: openCompatible,
  ollama: openCompatible,
  "openai-compatible": openCompatible,
};

interface ProviderSettings {
  readonly fetch: typeof fetch;
  readonly apiKey?: string;
  readonly baseURL?: string;
}

function settingsOf({ apiKey, baseUrl }: Pick<Opening, "apiKey" | "baseUrl">): ProviderSettings {
  return {
    fetch: fetchFromProvider,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
  };
}
