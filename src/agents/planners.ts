import { randomUUID } from "node:crypto";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import { Scope } from "../base/scope.ts";
import { keyless } from "../config/project-limits.ts";
import type { CallContext } from "../tool.ts";
import type { AgentFile } from "./agent-file.ts";
import { hasKey, type KeySource, type OpenModelOptions, parseModelName } from "./model/provider.ts";
import { type PlannedRun, type Planner, type PlannerChoice, plannerChoices } from "./planner.ts";

/** The `planner` section of the config. */
export interface PlannerConfig {
  /** Default `auto`. */
  readonly kind?: PlannerChoice | undefined;
  /** `provider/name`. */
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly apiKeyEnv?: string | undefined;
  readonly apiKeyCommand?: readonly string[] | undefined;
  /** Set if `baseUrl` is the project's. */
  readonly [keyless]?: true;
}

export interface Planners {
  /** The planner for one task, and those that replace it if it cannot begin. They are loaded on use. */
  choose(wish: PlannerWish): readonly Planner[];
}

export interface PlannerWish {
  readonly file: Pick<AgentFile, "planner" | "model">;
  readonly context: CallContext;
}

export interface PlannersOptions {
  readonly config?: PlannerConfig | undefined;
  /** Keys are added to it. */
  readonly secrets: Secrets;
  /** Default: the environment of the process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** The `_meta` key of a call that selects a planner. */
export const plannerMeta = "guildhall/planner";

/** The caller's choice, else the agent's file, else the config. */
export function createPlanners({
  config = {},
  secrets,
  env = process.env,
}: PlannersOptions): Planners {
  return {
    choose({ file, context }) {
      const opening = openingFor(file.model, config, env);
      const model = (): Planner => planWithModel(opening, secrets);
      const choice =
        readChoice(context.meta?.[plannerMeta]) ?? file.planner ?? config.kind ?? "auto";
      switch (choice) {
        case "model":
          return [model()];
        case "sampling":
          return [planWithSampling(context, secrets)];
        case "local":
          return [planAlone];
        case "auto":
          return [
            ...(opening && hasKey(parseModelName(opening.model), opening) ? [model()] : []),
            ...(canSample(context) ? [planWithSampling(context, secrets)] : []),
            planAlone,
          ];
      }
    },
  };
}

/** Throws INVALID_PARAMS. */
function readChoice(value: unknown): PlannerChoice | undefined {
  if (value === undefined) return undefined;
  const choice = plannerChoices.find((known) => known === value);
  if (choice) return choice;
  throw new HallError(
    "INVALID_PARAMS",
    `unknown planner "${String(value).slice(0, 50)}" (expected: ${plannerChoices.join(", ")})`,
  );
}

type Opening = Omit<OpenModelOptions, "secrets">;

/** The address and key in the config belong to the provider of its model; other providers never see them. */
export function openingFor(
  model: string | undefined,
  config: PlannerConfig,
  env: NodeJS.ProcessEnv,
): Opening | undefined {
  const name = model ?? config.model;
  if (name === undefined) return undefined;
  const { provider } = parseModelName(name);
  const isSame = config.model !== undefined && parseModelName(config.model).provider === provider;
  if (!isSame) return { model: name, env };
  const { baseUrl, apiKeyEnv, apiKeyCommand, [keyless]: isKeyless } = config;
  return {
    model: name,
    baseUrl,
    env,
    ...({ apiKeyEnv, apiKeyCommand, isKeyless } satisfies Omit<KeySource, "env">),
  };
}

function planWithModel(opening: Opening | undefined, secrets: Secrets): Planner {
  return {
    kind: "model",
    async plan(run) {
      if (!opening)
        throw new HallError("UNAVAILABLE", "no model is configured for planning", {
          next: [{ do: "edit-config", field: "planner.model" }],
        });
      const [{ createModelPlanner }, { openModel }] = await Promise.all([
        import("./model/model-planner.ts"),
        import("./model/provider.ts"),
      ]);
      return createModelPlanner({
        kind: "model",
        open: () => openModel({ ...opening, secrets }),
        secrets,
      }).plan(run);
    },
  };
}

function planWithSampling(context: CallContext, secrets: Secrets): Planner {
  return {
    kind: "sampling",
    async plan(run) {
      if (!canSample(context)) {
        throw new HallError(
          "MISSING_CAPABILITY",
          "the sampling planner requires a client that supports sampling with tools",
          { details: { requiredCapabilities: { sampling: { tools: {} } } } },
        );
      }
      const [{ createModelPlanner }, { createSamplingModel }] = await Promise.all([
        import("./model/model-planner.ts"),
        import("./model/sampling-model.ts"),
      ]);
      const model = createSamplingModel((params) => sample(params, context, run));
      return createModelPlanner({ kind: "sampling", open: async () => model, secrets }).plan(run);
    },
  };
}

/** A model that cannot call tools could only describe the calls, in words that nobody checks. */
function canSample({ capabilities }: CallContext): boolean {
  return isObject(capabilities?.sampling) && isObject(capabilities.sampling.tools);
}

/** One sampling request; it is cancelled when the run ends. */
async function sample(
  params: JsonObject,
  context: CallContext,
  { signal }: PlannedRun,
): Promise<JsonObject> {
  // The key must be unguessable: a client's request can carry answers to questions that were not asked yet.
  const key = `sampling-${randomUUID()}`;
  const asked = new Scope(context.scope);
  const leave = (): void => asked.cancel(new HallError("CANCELLED", "the run has ended"));
  signal.addEventListener("abort", leave, { once: true });
  try {
    const answers = await context.ask(
      { [key]: { method: "sampling/createMessage", params } },
      asked,
    );
    return answers[key] ?? {};
  } finally {
    signal.removeEventListener("abort", leave);
    asked.close();
  }
}

const planAlone: Planner = {
  kind: "local",
  plan: async (run) => (await import("./local/local-planner.ts")).localPlanner().plan(run),
};
