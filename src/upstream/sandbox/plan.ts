import { HallError } from "../../base/errors.ts";
import type { ServerConfig } from "../../config/schema.ts";
import type { BoxPlan } from "./box.ts";
import { isContainer } from "./container.ts";
import { describeDenials, describeNoNetwork, findDenials, isNetworkFailure } from "./denials.ts";
import type { SandboxPolicy } from "./policy.ts";
import { createProfile } from "./profile.ts";

/** Undefined for a server that runs unconfined. Throws DENIED where it must be confined and cannot. */
export async function planBox(
  name: string,
  config: ServerConfig,
  policy: SandboxPolicy,
): Promise<BoxPlan | undefined> {
  const decision = policy.decide(name, config);
  if (decision.kind === "open" || config.type !== "stdio") return undefined;
  const found = isContainer(config) ? undefined : await policy.runtime();
  if (found && "reason" in found)
    throw new HallError("DENIED", `it must run in a sandbox, and there is none: ${found.reason}`, {
      next: [{ do: "verify", server: name }],
    });
  const profile = createProfile(name, config, decision.learned);
  const { cwd = process.cwd() } = config;
  return {
    profile,
    runtime: found,
    denied: (denial) => policy.denied?.(name, denial),
    explain(text) {
      const denials = findDenials(text, profile, cwd);
      for (const denial of denials) policy.denied?.(name, denial);
      if (denials.length > 0) return describeDenials(name, denials);
      // A container may have a network by its own options.
      const lacksNetwork = found !== undefined && profile.hosts.length === 0 && !policy.isLearning;
      return lacksNetwork && isNetworkFailure(text) ? describeNoNetwork(name) : undefined;
    },
    isLearning: policy.isLearning,
    tracer: policy.tracer,
  };
}
