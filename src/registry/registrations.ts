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

/** Toolkits that services registered while the hall runs. One registration at a time: each is whole, or was never there. */
export interface Registrations {
  /** `runner` is the line it came on, where that can be called back. Throws INVALID_PARAMS or CONFLICT with JSON pointers. */
  register(params: JsonObject, runner?: Runner): Promise<RegisteredToolkit>;
  /** What it stood in front of comes back. Throws TOOLKIT_NOT_FOUND. */
  unregister(name: string): Promise<RegisteredToolkit>;
  all(): readonly RegisteredToolkit[];
  /** Closes what registrations stand in front of; the registry closes the rest. */
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
  /** Built-in toolkits that a registration stands in front of. */
  const shadowed = new Map<string, Toolkit>();
  /** Names by what the eye keeps of them: comparing with a thousand others would take longer than everything else. */
  const skeletons = new Map<string, string>();
  /** Whoever comes while another is being registered waits for it. */
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
      health.record(toolkit).lost(toolkit.problem?.() ?? "nobody serves it");
    return toolkit;
  }

  function checkPlace({ name, replace }: Registration, known: RegisteredToolkit | undefined): void {
    if (known && !replace)
      throw conflict(
        `"${name}" is already registered as ${known.toolId} with another definition`,
        "Say `replace: true` to take its place.",
      );
    const there = registry.findToolkit(name);
    const source = there?.source ?? "built-in";
    if (there && !known && source !== "built-in") {
      throw conflict(
        `"${name}" is ${source === "upstream" ? "a server of the hall's config" : "a module of the hall"}`,
        "Choose another name.",
      );
    }
    const alike = skeletons.get(skeletonOf(name));
    const lookalike =
      alike !== undefined && alike !== name ? alike : findLookalike(name, otherNames());
    if (lookalike !== undefined)
      throw conflict(
        `"${name}" reads like "${lookalike}"`,
        "Choose a name that cannot be mistaken for another.",
      );
    if (!known && registered.size >= countMax)
      throw new HallError("OVERLOADED", `${countMax} toolkits are already registered`);
  }

  /** Names that were not registered: few, beside thousands that may have been. */
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
