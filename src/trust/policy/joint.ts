import type { Plan, PolicyEngine, Ruling } from "./engine.ts";
import type { Policy } from "./parse.ts";
import type { PolicyRequest } from "./request.ts";

/** Several sets of policies, each of which must allow a request: none of them can loosen another. */
export class JointEngine {
  readonly #engines: readonly PolicyEngine[];

  constructor(engines: readonly PolicyEngine[]) {
    this.#engines = engines;
  }

  get policies(): readonly Policy[] {
    return this.#engines.flatMap(({ policies }) => policies);
  }

  plan(request: PolicyRequest): Plan {
    const plans = this.#engines.map((engine) => engine.plan(request));
    const open = plans.flatMap((plan) => (plan.kind === "open" ? plan.open : []));
    const decided = join(plans.flatMap((plan) => (plan.kind === "decided" ? [plan.ruling] : [])));
    if (open.length === 0 || !decided.allows) return { kind: "decided", ruling: decided };
    const rulings = plans.map((plan) => (plan.kind === "open" ? plan.otherwise : plan.ruling));
    return { kind: "open", otherwise: join(rulings), open };
  }

  /** Each set has a plan of its own, which costs little beside the evaluation. */
  evaluate(_plan: Plan, request: PolicyRequest): Ruling {
    return join(
      this.#engines.map((engine) => {
        const plan = engine.plan(request);
        return plan.kind === "decided" ? plan.ruling : engine.evaluate(plan, request);
      }),
    );
  }

  close(): void {
    for (const engine of this.#engines) engine.close();
  }
}

/** The first that denies, else all policies that allow. */
function join(rulings: readonly Ruling[]): Ruling {
  return (
    rulings.find(({ allows }) => !allows) ?? {
      allows: true,
      by: rulings.flatMap(({ by }) => by),
    }
  );
}
