import type { LanguageModelV3 } from "@ai-sdk/provider";
import { HallError } from "../../base/errors.ts";
import type { Secrets } from "../../base/log.ts";
import {
  factsOf,
  type KeySource,
  type ModelName,
  type ProviderName,
  parseModelName,
  readKey,
} from "./provider.ts";

export interface OpenModelOptions extends KeySource {
  /** `provider/name`. */
  readonly model: string;
  readonly baseUrl?: string | undefined;
  /** Keys are added to it, so that logs and the store never contain one. */
  readonly secrets: Secrets;
}

/** Opens a model of the AI SDK's providers, loading only its own package. Throws INVALID_PARAMS, or UNAVAILABLE without a key. */
export async function openModel({
  model,
  baseUrl,
  secrets,
  ...source
}: OpenModelOptions): Promise<LanguageModelV3> {
  const name = parseModelName(model);
  const address = baseUrl ?? factsOf(name.provider).baseUrl;
  if (name.provider === "openai-compatible" && address === undefined) {
    throw new HallError("INVALID_PARAMS", `${model} requires planner.baseUrl`, {
      next: [{ do: "edit-config", field: "planner.baseUrl" }],
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
  // The chat API: the responses API stores conversations at the provider by default.
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

/** `fetch` without redirects: keys and tasks are meant for the configured address, and `fetch` drops only one of the headers that carry keys. */
const fetchFromProvider: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: "manual" });
  if (response.status < 300 || response.status > 399 || response.status === 304) return response;
  await response.body?.cancel();
  const { origin } = new URL(input instanceof Request ? input.url : input);
  throw new HallError(
    "UNAVAILABLE",
    `${origin} answered ${response.status}, a redirect to ${describeTarget(response, origin)}; nothing was sent there`,
    {
      hint: "If the provider moved, set planner.baseUrl to its new address.",
      next: [{ do: "edit-config", field: "planner.baseUrl" }],
    },
  );
};

/** Only the host of another origin: a URL may contain secrets. */
function describeTarget({ headers }: Response, origin: string): string {
  const location = headers.get("location");
  if (location === null || !URL.canParse(location, origin)) return "no address";
  const target = new URL(location, origin);
  return target.origin === origin ? `${origin}${target.pathname}` : target.origin;
}
