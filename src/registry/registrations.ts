import { HallError, messageOf } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { createInOrder } from "../base/one-at-a-time.ts";
import { findNear } from "../base/text.ts";
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
  /**
   * `runner` is the connection it came on, if that can receive calls. Throws INVALID_PARAMS or
   * CONFLICT with JSON pointers.
   */
  register(params: JsonObject, runner?: Runner): Promise<RegisteredToolkit>;
  /** Restores the built-in toolkit that it replaced. Throws TOOLKIT_NOT_FOUND. */
  unregister(name: string): Promise<RegisteredToolkit>;
  all(): readonly RegisteredToolkit[];
  /** True if it took the name of a built-in toolkit, which serves while no service is attached. */
  isReplacement(name: string): boolean;
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

export function createRegistrations(options: RegistrationsOptions): Registrations {
  return new RegistrationBook(options);
}

/** Public members are functions in fields, because `keepRegistrations` copies the object. */
class RegistrationBook implements Registrations {
  readonly #options: RegistrationsOptions;
  readonly #registered = new Map<string, RegisteredToolkit>();
  /** Built-in toolkits that a registration replaces while it has a runner. */
  readonly #shadowed = new Map<string, Toolkit>();
  /** Names by their skeleton, because comparing with a thousand others would dominate the cost. */
  readonly #skeletons = new Map<string, string>();
  readonly #inOrder = createInOrder();

  constructor(options: RegistrationsOptions) {
    this.#options = options;
  }

  readonly register = (params: JsonObject, runner?: Runner): Promise<RegisteredToolkit> =>
    this.#inOrder(() => this.#register(params, runner));

  readonly unregister = (name: string): Promise<RegisteredToolkit> =>
    this.#inOrder(() => this.#unregister(name));

  readonly all = (): readonly RegisteredToolkit[] => [...this.#registered.values()];

  readonly isReplacement = (name: string): boolean => this.#shadowed.has(name);

  readonly close = async (): Promise<void> => {
    for (const [name, built] of this.#shadowed)
      await (this.#isServing(built) ? this.#registered.get(name) : built)?.close();
  };

  async #register(params: JsonObject, line: Runner | undefined): Promise<RegisteredToolkit> {
    const registration = parseRegistration(params, { allowPrivate: this.#options.allowPrivate });
    const known = this.#registered.get(registration.name);
    const isSame = known?.registration.fingerprint === registration.fingerprint;
    const toolkit = isSame ? known : await this.#put(registration, known);
    const runner = this.#runnerOf(registration) ?? line;
    if (runner) toolkit.attach(runner);
    else if (!toolkit.runner)
      this.#options.health.record(toolkit).lost(toolkit.problem?.() ?? "no service is attached");
    await this.#settle(toolkit);
    return toolkit;
  }

  #checkPlace(
    { name, replace, isSingle }: Registration,
    known: RegisteredToolkit | undefined,
  ): void {
    if (known && !replace)
      throw conflict(
        `"${name}" is already registered as ${known.toolId} with another definition`,
        "Set `replace: true` to replace it.",
      );
    const there = this.#options.registry.findToolkit(name);
    const source = there?.source ?? "built-in";
    if (there && !known && source !== "built-in") {
      throw conflict(
        `"${name}" is already ${source === "upstream" ? "a server" : "a module"} in the config`,
        "Choose another name.",
      );
    }
    if (isSingle && !known && this.#options.registry.findTool(name))
      throw conflict(`"${name}" is already the name of a tool`, "Choose another name.");
    const alike = this.#skeletons.get(skeletonOf(name));
    const lookalike =
      alike !== undefined && alike !== name ? alike : findLookalike(name, this.#otherNames());
    if (lookalike !== undefined)
      throw conflict(
        `"${name}" is too similar to "${lookalike}"`,
        "Choose a name that cannot be confused with another.",
      );
    if (!known && this.#registered.size >= countMax)
      throw new HallError("OVERLOADED", `too many registered toolkits (limit: ${countMax})`);
  }

  /** Names that are not registered; there are few of them. */
  #otherNames(): readonly string[] {
    const names = [...this.#shadowed.keys()];
    for (const { id, source } of this.#options.registry.toolkits())
      if (source !== "registered") names.push(id);
    return names;
  }

  async #checkSchemas({ tools }: Registration): Promise<void> {
    const faults: Fault[] = [];
    for (const [index, { inputSchema, outputSchema }] of tools.entries()) {
      const schemas = { parameters: inputSchema, returns: outputSchema };
      for (const [key, schema] of Object.entries(schemas)) {
        if (!schema) continue;
        await this.#options
          .checkSchema(schema)
          .catch((error: unknown) =>
            faults.push({ path: `/tool/functions/${index}/${key}`, message: messageOf(error) }),
          );
      }
    }
    if (faults.length > 0) throw refuse(faults);
  }

  async #put(
    registration: Registration,
    known: RegisteredToolkit | undefined,
  ): Promise<RegisteredToolkit> {
    this.#checkPlace(registration, known);
    await this.#checkSchemas(registration);
    const { name } = registration;
    const version = known ? versionOf(known) + 1 : 1;
    const toolkit = createRegisteredToolkit({
      registration,
      toolId: `${name}_v${version}`,
      registeredAt: Date.now(),
      changed: (changed) => this.#changed(changed),
    });
    const { registry } = this.#options;
    const there = registry.findToolkit(name);
    if (!there) await registry.add(toolkit);
    else if (there === known) await registry.replace(toolkit);
    else this.#shadowed.set(name, there);
    await known?.close();
    this.#registered.set(name, toolkit);
    this.#skeletons.set(skeletonOf(name), name);
    this.#options.log.info(
      { toolkit: name, id: toolkit.toolId, tools: registration.tools.length },
      "registered",
    );
    return toolkit;
  }

  /** A built-in toolkit serves while the registration that took its name has no runner. */
  async #settle(toolkit: RegisteredToolkit): Promise<void> {
    const built = this.#shadowed.get(toolkit.id);
    if (!built || this.#registered.get(toolkit.id) !== toolkit) return;
    const serving = toolkit.runner ? toolkit : built;
    if (!this.#isServing(serving)) await this.#options.registry.replace(serving);
  }

  #isServing(toolkit: Toolkit): boolean {
    return this.#options.registry.findToolkit(toolkit.id) === toolkit;
  }

  #changed(toolkit: RegisteredToolkit): void {
    if (!toolkit.runner) void this.#inOrder(() => this.#settle(toolkit));
    const problem = toolkit.problem?.();
    const record = this.#options.health.record(toolkit);
    if (problem === undefined) record.reset();
    else record.lost(problem);
  }

  #runnerOf({ endpoint, healthCheckUrl }: Registration): Runner | undefined {
    const { allowPrivate } = this.#options;
    return endpoint && createEndpoint({ url: endpoint, healthCheckUrl, allowPrivate });
  }

  async #unregister(name: string): Promise<RegisteredToolkit> {
    const toolkit =
      this.#registered.get(name) ??
      [...this.#registered.values()].find(({ toolId }) => toolId === name);
    if (!toolkit) {
      const near = findNear(name, this.#registered.keys());
      throw new HallError(
        "TOOLKIT_NOT_FOUND",
        `"${name.slice(0, 100)}" is not registered${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`,
        {
          details: { near },
        },
      );
    }
    this.#registered.delete(toolkit.id);
    this.#skeletons.delete(skeletonOf(toolkit.id));
    const built = this.#shadowed.get(toolkit.id);
    this.#shadowed.delete(toolkit.id);
    if (built) {
      if (!this.#isServing(built)) await this.#options.registry.replace(built);
      await toolkit.close();
    } else await this.#options.registry.remove(toolkit.id);
    this.#options.log.info({ toolkit: toolkit.id, id: toolkit.toolId }, "unregistered");
    return toolkit;
  }
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
