import { HallError, messageOf } from "../base/errors.ts";
import { createInOrder } from "../base/in-order.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { findNear } from "../base/near.ts";
import type { Toolkit } from "../tool.ts";
import { createEndpoint } from "./endpoint.ts";
import type { HealthBook } from "./health.ts";
import { findLookalike, skeletonOf } from "./name-rules.ts";
import type { Runner } from "./registered.ts";
import { createRegisteredToolkit, type RegisteredToolkit } from "./registered.ts";
import { type Fault, parseRegistration, type Registration, refuse } from "./registration.ts";
import type { Registry } from "./registry.ts";

/** Toolkits that services register at run time. Registrations run one at a time and are atomic. */
export interface Registrations {
  /** `runner` is the connection it came on, if that can receive calls. Throws INVALID_PARAMS or CONFLICT with JSON pointers. */
  register(params: JsonObject, runner?: Runner): Promise<RegisteredToolkit>;
  /** Restores the built-in toolkit that it replaced. Throws TOOLKIT_NOT_FOUND. */
  unregister(name: string): Promise<RegisteredToolkit>;
  all(): readonly RegisteredToolkit[];
  /** Closes the replaced toolkits; the registry closes the others. */
  close(): Promise<void>;
}

export interface RegistrationsOptions {
  readonly registry: Registry;
  readonly health: HealthBook;
  readonly log: Log;
  readonly allowPrivate: boolean;
  /** Throws when a schema cannot be compiled. */
  checkSchema(schema: JsonObject): Promise<unknown>;
}

const countMax = 10_000;

export function createRegistrations({
  registry,
  health,
  log,
  allowPrivate,
  checkSchema,
}: RegistrationsOptions): Registrations {
  const registered = new Map<string, RegisteredToolkit>();
  /** Built-in toolkits that a registration replaces. */
  const shadowed = new Map<string, Toolkit>();
  /** Names by their skeleton, because comparing with a thousand others would dominate the cost. */
  const skeletons = new Map<string, string>();
  const inOrder = createInOrder();

  async function register(
    params: JsonObject,
    line: Runner | undefined,
  ): Promise<RegisteredToolkit> {
    const registration = parseRegistration(params, { allowPrivate });
    const known = registered.get(registration.name);
    if (known?.registration.fingerprint !== registration.fingerprint) {
      checkPlace(registration, known);
      await checkSchemas(registration);
    }
    const toolkit =
      known?.registration.fingerprint === registration.fingerprint
        ? known
        : await put(registration, known);
    const runner = runnerOf(registration) ?? line;
    if (runner) toolkit.attach(runner);
    else if (!toolkit.runner)
      health.record(toolkit).lost(toolkit.problem?.() ?? "no service is attached");
    return toolkit;
  }

  function checkPlace({ name, replace }: Registration, known: RegisteredToolkit | undefined): void {
    if (known && !replace)
      throw conflict(
        `"${name}" is already registered as ${known.toolId} with another definition`,
        "Set `replace: true` to replace it.",
      );
    const there = registry.findToolkit(name);
    const source = there?.source ?? "built-in";
    if (there && !known && source !== "built-in") {
      throw conflict(
        `"${name}" is already ${source === "upstream" ? "a server" : "a module"} in the config`,
        "Choose another name.",
      );
    }
    const alike = skeletons.get(skeletonOf(name));
    const lookalike =
      alike !== undefined && alike !== name ? alike : findLookalike(name, otherNames());
    if (lookalike !== undefined)
      throw conflict(
        `"${name}" is too similar to "${lookalike}"`,
        "Choose a name that cannot be confused with another.",
      );
    if (!known && registered.size >= countMax)
      throw new HallError("OVERLOADED", `too many registered toolkits (limit: ${countMax})`);
  }

  /** Names that are not registered; there are few of them. */
  function otherNames(): readonly string[] {
    const names = [...shadowed.keys()];
    for (const { id, source } of registry.toolkits()) if (source !== "registered") names.push(id);
    return names;
  }

  async function checkSchemas({ tools }: Registration): Promise<void> {
    const faults: Fault[] = [];
    for (const [index, { inputSchema, outputSchema }] of tools.entries()) {
      for (const [key, schema] of [
        ["parameters", inputSchema] as const,
        ["returns", outputSchema] as const,
      ]) {
        if (!schema) continue;
        await checkSchema(schema).catch((error: unknown) =>
          faults.push({ path: `/tool/functions/${index}/${key}`, message: messageOf(error) }),
        );
      }
    }
    if (faults.length > 0) throw refuse(faults);
  }

  async function put(
    registration: Registration,
    known: RegisteredToolkit | undefined,
  ): Promise<RegisteredToolkit> {
    const { name } = registration;
    const version = known ? versionOf(known) + 1 : 1;
    const toolkit = createRegisteredToolkit({
      registration,
      toolId: `${name}_v${version}`,
      registeredAt: Date.now(),
      changed,
    });
    if (registry.findToolkit(name)) {
      const old = await registry.replace(toolkit);
      if (old === known) await known?.close();
      else shadowed.set(name, old);
    } else await registry.add(toolkit);
    registered.set(name, toolkit);
    skeletons.set(skeletonOf(name), name);
    log.info({ toolkit: name, id: toolkit.toolId, tools: registration.tools.length }, "registered");
    return toolkit;
  }

  function changed(toolkit: RegisteredToolkit): void {
    const problem = toolkit.problem?.();
    const record = health.record(toolkit);
    if (problem === undefined) record.reset();
    else record.lost(problem);
  }

  function runnerOf({ endpoint, healthCheckUrl }: Registration): Runner | undefined {
    return endpoint && createEndpoint({ url: endpoint, healthCheckUrl, allowPrivate });
  }

  async function unregister(name: string): Promise<RegisteredToolkit> {
    const toolkit =
      registered.get(name) ?? [...registered.values()].find(({ toolId }) => toolId === name);
    if (!toolkit) {
      const near = findNear(name, registered.keys());
      throw new HallError(
        "TOOLKIT_NOT_FOUND",
        `"${name.slice(0, 100)}" is not registered${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`,
        {
          details: { near },
        },
      );
    }
    registered.delete(toolkit.id);
    skeletons.delete(skeletonOf(toolkit.id));
    const built = shadowed.get(toolkit.id);
    shadowed.delete(toolkit.id);
    if (built) {
      await registry.replace(built);
      await toolkit.close();
    } else await registry.remove(toolkit.id);
    log.info({ toolkit: toolkit.id, id: toolkit.toolId }, "unregistered");
    return toolkit;
  }

  return {
    register: (params, runner) => inOrder(() => register(params, runner)),
    unregister: (name) => inOrder(() => unregister(name)),
    all: () => [...registered.values()],
    async close() {
      for (const toolkit of shadowed.values()) await toolkit.close();
    },
  };
}

function versionOf({ toolId, id }: RegisteredToolkit): number {
  return Number(toolId.slice(`${id}_v`.length));
}

function conflict(message: string, hint: string): HallError {
  return new HallError("CONFLICT", message, {
    details: { errors: [{ path: "/tool/name", message }] },
    hint,
  });
}
