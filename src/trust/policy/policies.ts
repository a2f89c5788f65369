import { isDeepStrictEqual } from "node:util";
import type { Advice } from "../../base/advice.ts";
import { HallError, messageOf } from "../../base/errors.ts";
import type { Caller, Person, Target } from "../../tool.ts";
import { type Marks, markTool } from "../marks.ts";
import { type Plan, PolicyEngine, type Ruling } from "./engine.ts";
import { JointEngine } from "./joint.ts";
import { type Policy, type PolicyFile, parsePolicies } from "./parse.ts";
import { type PolicyRequest, type Subject, toolIdOf } from "./request.ts";
import type { PolicyAction } from "./schema.ts";

/** Without files nothing is checked; with a broken one, everything is denied. */
type State =
  | { readonly kind: "off" }
  | { readonly kind: "on"; readonly engine: Engine }
  | { readonly kind: "broken"; readonly problems: readonly string[] };

type Engine = Pick<PolicyEngine, "policies" | "plan" | "evaluate" | "close">;

/** Policies that several halls share; unknown until their database was reached for the first time. */
export type SharedFiles = readonly PolicyFile[] | "unknown";

export interface PoliciesOptions {
  /** Default: by the tool's own name and annotations. */
  marksOf?(target: Target): Marks;
  /** Called for each request that `require` denies. */
  denied?(request: PolicyRequest, denial: Denial): void;
  now?(): number;
}

/** Why a request is denied. */
export interface Denial {
  /** For the audit: names every policy. */
  readonly reason: string;
  /** For the caller: nothing of a project's policies but that there is one. */
  readonly shown: string;
  readonly next: readonly Advice[];
  /** Set if it is denied only for now. */
  readonly retryAfterSeconds?: number;
}

/** The rulings of the policy files of the user and of the project, and of those that all halls share. */
export class Policies {
  readonly #marksOf: (target: Target) => Marks;
  readonly #options: PoliciesOptions;
  readonly #listeners = new Set<() => void>();
  /** The tools of an agent, which is shown only with one of them. */
  membersOf: (agent: Target) => ReadonlySet<Target> | undefined = () => undefined;
  #state: State = { kind: "off" };
  #own: readonly PolicyFile[] = [];
  #shared: SharedFiles = [];
  /** One change at a time, so that the last one counts. */
  #turn: Promise<void> = Promise.resolve();
  #plans = new Plans();
  #marks = new WeakMap<Target, Marks>();

  constructor(options: PoliciesOptions = {}) {
    this.#options = options;
    this.#marksOf = options.marksOf ?? ((target) => this.#markOnce(target));
  }

  get isOn(): boolean {
    return this.#state.kind !== "off";
  }

  /** Everything that is wrong with the files; empty if they are in use. */
  get problems(): readonly string[] {
    return this.#state.kind === "broken" ? this.#state.problems : [];
  }

  /** False until the policies that several halls share were read for the first time. */
  get isKnown(): boolean {
    return this.#shared !== "unknown";
  }

  get all(): readonly Policy[] {
    return this.#state.kind === "on" ? this.#state.engine.policies : [];
  }

  /** Puts other files in force, all or none: with a broken one, everything is denied. */
  replace(files: readonly PolicyFile[]): Promise<void> {
    this.#own = files;
    return this.#reload();
  }

  /** The same for the files that all halls share. They count beside this hall's own: both must allow a request. */
  async replaceShared(files: SharedFiles): Promise<void> {
    if (isDeepStrictEqual(files, this.#shared)) return;
    this.#shared = files;
    await this.#reload();
  }

  #reload(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#putInForce());
    return this.#turn;
  }

  async #putInForce(): Promise<void> {
    const state = await this.#load().catch(
      (error: unknown): State => ({ kind: "broken", problems: [messageOf(error)] }),
    );
    if (this.#state.kind === "on") this.#state.engine.close();
    this.#state = state;
    this.#plans = new Plans();
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /**
   * The denial that no context can change; undefined if the request may be allowed. Kept for tools, so
   * that a repeated question takes less than a microsecond.
   */
  refusesAlways(request: PolicyRequest): Denial | undefined {
    if (this.#state.kind === "off") return undefined;
    if (this.#state.kind === "broken") return this.#denyAll();
    const plan = this.#planOf(request, this.#state.engine);
    return plan.kind === "decided" ? denialOf(plan.ruling, request) : undefined;
  }

  /** The same without the words. */
  #mayAllow(request: PolicyRequest): boolean {
    if (this.#state.kind !== "on") return this.#state.kind === "off";
    const plan = this.#planOf(request, this.#state.engine);
    return plan.kind === "open" || plan.ruling.allows;
  }

  refuses(request: PolicyRequest): Denial | undefined {
    if (this.#state.kind === "off") return undefined;
    return this.#state.kind === "broken" ? this.#denyAll() : denialOf(this.rule(request), request);
  }

  #denyAll(): Denial {
    return this.isKnown ? brokenDenial : unknownDenial;
  }

  /** The ruling with the policies behind it. The policies must be in force. */
  rule(request: PolicyRequest): Ruling {
    if (this.#state.kind !== "on") return { allows: this.#state.kind === "off", by: [] };
    const { engine } = this.#state;
    const plan = this.#planOf(request, engine);
    return plan.kind === "decided" ? plan.ruling : engine.evaluate(plan, request);
  }

  /** The ruling before the context of a request is known, and the policies that decide by it. */
  examine(request: PolicyRequest): { readonly ruling: Ruling; readonly open: readonly Policy[] } {
    if (this.#state.kind !== "on") return { ruling: this.rule(request), open: [] };
    const plan = this.#planOf(request, this.#state.engine);
    return plan.kind === "decided"
      ? { ruling: plan.ruling, open: [] }
      : { ruling: plan.otherwise, open: plan.open };
  }

  /** False for what is not listed to the caller, nor named in errors. */
  shows(caller: Pick<Caller, "person" | "client"> | undefined, subject: Subject): boolean {
    if (this.#state.kind === "off") return true;
    const whose = caller ?? nobodyElse;
    const use: PolicyAction = "tool" in subject ? "call" : "read";
    const isShown =
      this.#mayAllow({ caller: whose, action: use, subject }) &&
      this.#mayAllow({ caller: whose, action: "list", subject });
    if (!isShown || !("tool" in subject) || subject.tool.toolkit.source !== "hall") return isShown;
    const members = [...(this.membersOf(subject.tool) ?? [])];
    return members.length === 0 || members.some((tool) => this.shows(caller, { tool }));
  }

  /** Throws DENIED. */
  require(request: PolicyRequest): void {
    const denial = this.refuses(request);
    if (!denial) return;
    this.#options.denied?.(request, denial);
    throw deniedError(denial);
  }

  async #load(): Promise<State> {
    if (this.#shared === "unknown") return { kind: "broken", problems: [unknownProblem] };
    const isSame = isDeepStrictEqual(textsOf(this.#shared), textsOf(this.#own));
    const sets = [this.#own, isSame ? [] : this.#shared].filter((files) => files.length > 0);
    if (sets.length === 0) return { kind: "off" };

    const { default: cedar } = await import("@cedar-policy/cedar-wasm/nodejs");
    const parsed = sets.map((files) => parsePolicies(files, cedar));
    const problems = parsed.flatMap((found) => found.problems);
    if (problems.length > 0) return { kind: "broken", problems };
    const { now = Date.now } = this.#options;
    const engines = parsed.map(
      ({ policies }) => new PolicyEngine({ cedar, policies, marksOf: this.#marksOf, now }),
    );
    const [first] = engines;
    return { kind: "on", engine: first && engines.length === 1 ? first : new JointEngine(engines) };
  }

  #planOf(request: PolicyRequest, engine: Engine): Plan {
    const { caller, action, subject } = request;
    if (!("tool" in subject)) return engine.plan(request);
    const plans = this.#plans.of(caller.person, action);
    const marks = this.#marksOf(subject.tool);
    const kept = plans.get(subject.tool);
    if (kept && kept.marks === marks) return kept.plan;
    const plan = engine.plan(request);
    plans.set(subject.tool, { plan, marks });
    return plan;
  }

  #markOnce(target: Target): Marks {
    let marks = this.#marks.get(target);
    if (!marks) {
      marks = markTool(target.tool);
      this.#marks.set(target, marks);
    }
    return marks;
  }
}

const unknownProblem =
  "the policies that the halls share are not known yet: their database does not answer";

/** The user's files, wherever they are. A project's files are the same for all halls of its folder. */
function textsOf(files: readonly PolicyFile[]): readonly string[] {
  return files.filter(({ isProject }) => !isProject).map(({ text }) => text);
}

const nobodyElse: Pick<Caller, "person" | "client"> = { client: "" };

/** People whose plans are kept. */
const peopleMax = 10_000;

type KeptPlans = WeakMap<Target, { readonly plan: Plan; readonly marks: Marks }>;
type PlansByAction = Partial<Record<PolicyAction, KeptPlans>>;

/** The plans of each person, by what policies can know of them. */
class Plans {
  readonly #byPerson = new WeakMap<Person, PlansByAction>();
  readonly #byKey = new Map<string, PlansByAction>();
  readonly #local: PlansByAction = {};

  of(person: Person | undefined, action: PolicyAction): KeptPlans {
    const plans = person ? (this.#byPerson.get(person) ?? this.#find(person)) : this.#local;
    plans[action] ??= new WeakMap();
    return plans[action];
  }

  #find(person: Person): PlansByAction {
    const { user, groups, issuer, token } = person;
    const key = JSON.stringify([user, groups, issuer, token]);
    const plans = this.#byKey.get(key) ?? {};
    if (this.#byKey.size >= peopleMax) this.#byKey.clear();
    this.#byKey.set(key, plans);
    this.#byPerson.set(person, plans);
    return plans;
  }
}

export function deniedError({ shown, next, retryAfterSeconds }: Denial): HallError {
  if (retryAfterSeconds !== undefined)
    return new HallError("UNAVAILABLE", shown, { details: { retryAfterSeconds }, next });
  const hint = "Ask the person who writes the policies of this hall.";
  return new HallError("DENIED", shown, { hint, next });
}

const brokenDenial: Denial = {
  reason: "the policies cannot be read",
  shown: "the policies of this hall cannot be read, so everything is denied",
  next: [{ do: "run-command", command: "policy check" }],
};

const unknownDenial: Denial = {
  reason: unknownProblem,
  shown: unknownProblem,
  next: [{ do: "retry-after", seconds: 1 }],
  retryAfterSeconds: 1,
};

function denialOf(ruling: Ruling, request: PolicyRequest): Denial | undefined {
  if (ruling.allows) return undefined;
  const { caller, action, subject } = request;
  const may = `${caller.person?.user ?? "the local user"} may not`;
  const whole = phrase(action, subject);
  const shown = request.name === undefined ? whole : `${action} ${request.name}`;
  return {
    reason: `${may} ${whole}: ${causeOf(ruling, ({ name }) => `policy ${name}`)}`,
    shown: `${may} ${shown}: ${causeOf(ruling, shownName)}`,
    next: [],
  };
}

function causeOf({ by, failure }: Ruling, nameOf: (policy: Policy) => string): string {
  const names = [...new Set(by.map(nameOf))].join(", ");
  if (failure !== undefined) return `${names} cannot be evaluated (${failure})`;
  return by.length === 0 ? "no policy permits it" : `${names} forbids it`;
}

/** Models read denials, and a project's names are untrusted text. */
function shownName({ name, isProject }: Policy): string {
  return isProject ? "a policy of this project" : `policy ${name}`;
}

function phrase(action: PolicyAction, subject: Subject): string {
  if ("tool" in subject)
    return action === "approve"
      ? `approve calls of ${toolIdOf(subject.tool)}`
      : `${action} ${toolIdOf(subject.tool)}`;
  if ("prompt" in subject) return `${action} the prompt ${subject.toolkit.id}.${subject.prompt}`;
  if ("uri" in subject) return `${action} this resource of ${subject.toolkit.id}`;
  return "server" in subject ? `register ${subject.server}` : `use the method ${subject.method}`;
}
