import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import type { Advice } from "../../base/advice.ts";
import { HallError } from "../../base/errors.ts";
import type { Secrets } from "../../base/log.ts";
import { findNear } from "../../base/text.ts";

/** Which model of which provider, `provider/name`. */
export interface ModelName {
  readonly provider: ProviderName;
  /** The provider's own name for it; may contain slashes. */
  readonly name: string;
}

type ProviderName = keyof typeof providers;

interface Provider {
  /** Environment variables for its key; the first that is set is used. */
  readonly keyVariables: readonly string[];
  /** False for models on this machine and for providers with credentials of their own. */
  readonly needsKey: boolean;
  /** Its address, if its package has no default. */
  readonly baseUrl?: string;
  /** Loads its package. */
  open(name: string, settings: ProviderSettings, env: NodeJS.ProcessEnv): Promise<LanguageModelV3>;
}

interface ProviderSettings {
  readonly fetch: typeof fetch;
  readonly apiKey?: string;
  readonly baseURL?: string;
}

const openCompatible: Provider["open"] = async (name, settings) => {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const options = { baseURL: "", ...settings, name: "openai-compatible", includeUsage: true };
  return createOpenAICompatible(options)(name);
};

const providers = {
  anthropic: {
    keyVariables: ["ANTHROPIC_API_KEY"],
    needsKey: true,
    open: async (name, settings) =>
      (await import("@ai-sdk/anthropic")).createAnthropic(settings)(name),
  },
  openai: {
    keyVariables: ["OPENAI_API_KEY"],
    needsKey: true,
    // The chat API: the responses API stores conversations at the provider by default.
    open: async (name, settings) =>
      (await import("@ai-sdk/openai")).createOpenAI(settings).chat(name),
  },
  google: {
    keyVariables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    needsKey: true,
    open: async (name, settings) =>
      (await import("@ai-sdk/google")).createGoogleGenerativeAI(settings)(name),
  },
  bedrock: {
    keyVariables: ["AWS_BEARER_TOKEN_BEDROCK"],
    needsKey: false,
    async open(name, settings, { AWS_REGION, AWS_DEFAULT_REGION }) {
      const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
      const region = AWS_REGION ?? AWS_DEFAULT_REGION;
      return createAmazonBedrock({ ...settings, ...(region ? { region } : {}) })(name);
    },
  },
  openrouter: {
    keyVariables: ["OPENROUTER_API_KEY"],
    needsKey: true,
    baseUrl: "https://openrouter.ai/api/v1",
    open: openCompatible,
  },
  ollama: {
    keyVariables: [],
    needsKey: false,
    baseUrl: "http://127.0.0.1:11434/v1",
    open: openCompatible,
  },
  "openai-compatible": {
    keyVariables: ["GUILDHALL_API_KEY"],
    needsKey: false,
    open: openCompatible,
  },
} as const satisfies Record<string, Provider>;

const factsOf = (provider: ProviderName): Provider => providers[provider];

/** Throws INVALID_PARAMS. */
export function parseModelName(text: string): ModelName {
  const at = text.indexOf("/");
  const provider = text.slice(0, at).toLowerCase();
  const name = text.slice(at + 1);
  const known = Object.keys(providers) as ProviderName[];
  const found = known.find((candidate) => candidate === provider);
  if (at < 1 || name === "") {
    throw new HallError(
      "INVALID_PARAMS",
      `invalid model "${text.slice(0, 80)}" (expected: provider/name)`,
      {
        hint: 'An example: "anthropic/NAME".',
      },
    );
  }
  if (found) return { provider: found, name };
  const [near] = findNear(provider, known);
  throw new HallError(
    "INVALID_PARAMS",
    `unknown provider "${provider.slice(0, 40)}"${near === undefined ? "" : `; did you mean ${near}?`} (expected: ${known.join(", ")})`,
    { hint: "For any other endpoint with OpenAI's API, use openai-compatible/NAME and a baseUrl." },
  );
}

/** Where a key comes from. Keys are never written to a file, a log or the store. */
export interface KeySource {
  /** The variable that holds it. Default: the provider's own variables. */
  readonly apiKeyEnv?: string | undefined;
  /** A program that prints it, with its arguments; run without a shell. */
  readonly apiKeyCommand?: readonly string[] | undefined;
  /** The address is not the user's choice, so it gets no key. */
  readonly isKeyless?: boolean | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** True if a key is configured, as far as that is known without running a program. */
export function hasKey({ provider }: ModelName, source: KeySource): boolean {
  if (source.isKeyless) return worksWithoutKey(provider);
  if (source.apiKeyCommand) return true;
  const { needsKey } = factsOf(provider);
  if (provider === "bedrock")
    return (
      findVariable(provider, source) !== undefined ||
      (isSet(source.env.AWS_ACCESS_KEY_ID) && isSet(source.env.AWS_REGION))
    );
  return !needsKey || findVariable(provider, source) !== undefined;
}

/** Undefined if none is needed. Throws UNAVAILABLE with the variable to set. */
export async function readKey(model: ModelName, source: KeySource): Promise<string | undefined> {
  const { provider } = model;
  if (source.isKeyless) {
    if (worksWithoutKey(provider)) return undefined;
    throw new HallError(
      "DENIED",
      `planner.baseUrl comes from the project's file, so no key for ${provider} is sent there`,
      {
        hint: "Set it in your own config file if you mean it.",
        next: [{ do: "edit-config", field: "planner.baseUrl" }],
      },
    );
  }
  if (source.apiKeyCommand) return runKeyCommand(source.apiKeyCommand);
  const variable = findVariable(provider, source);
  if (variable !== undefined) return source.env[variable];
  const wanted = variablesOf(provider, source);
  if (!factsOf(provider).needsKey && source.apiKeyEnv === undefined) return undefined;
  throw new HallError(
    "UNAVAILABLE",
    `no API key for ${provider}: ${wanted.join(" and ")} ${wanted.length > 1 ? "are" : "is"} not set`,
    {
      next: [
        ...wanted.slice(0, 1).map((name): Advice => ({ do: "set-variable", name })),
        { do: "edit-config", field: "planner.apiKeyCommand" },
      ],
    },
  );
}

/** Bedrock's package signs with credentials it finds by itself. */
function worksWithoutKey(provider: ProviderName): boolean {
  return provider !== "bedrock" && !factsOf(provider).needsKey;
}

function variablesOf(provider: ModelName["provider"], { apiKeyEnv }: KeySource): readonly string[] {
  return apiKeyEnv === undefined ? factsOf(provider).keyVariables : [apiKeyEnv];
}

function findVariable(provider: ModelName["provider"], source: KeySource): string | undefined {
  return variablesOf(provider, source).find((name) => isSet(source.env[name]));
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}

const commandMsMax = 20_000;

async function runKeyCommand([file = "", ...args]: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(file, args, {
    timeout: commandMsMax,
    maxBuffer: 65_536,
  }).catch((error: NodeJS.ErrnoException) => {
    // Its output may contain the key, so none of it is repeated.
    const why = error.code === "ENOENT" ? "does not exist" : "failed";
    throw new HallError("UNAVAILABLE", `planner.apiKeyCommand: ${file} ${why}`, {
      hint: "Run it in a terminal: it must print the key and nothing else.",
    });
  });
  const key = stdout.trim();
  if (key !== "" && !/\s/.test(key)) return key;
  throw new HallError("UNAVAILABLE", `planner.apiKeyCommand: ${file} did not print one word`, {
    hint: "It must print the key and nothing else.",
  });
}

export interface OpenModelOptions extends KeySource {
  /** `provider/name`. */
  readonly model: string;
  readonly baseUrl?: string | undefined;
  /** Keys are added to it, so that logs and the store never contain one. */
  readonly secrets: Secrets;
}

/**
 * Opens a model of the AI SDK's providers, loading only its own package. Throws INVALID_PARAMS, or
 * UNAVAILABLE without a key.
 */
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
  const settings: ProviderSettings = {
    fetch: fetchFromProvider,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(address === undefined ? {} : { baseURL: address }),
  };
  return factsOf(name.provider).open(name.name, settings, source.env);
}

/**
 * `fetch` without redirects: keys and tasks are meant for the configured address, and `fetch` drops
 * only one of the headers that carry keys.
 */
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
