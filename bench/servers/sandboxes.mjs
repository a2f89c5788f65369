// Starts of servers in sandboxes by the hall's own code, for the bench.
export { Scope } from "../../src/base/scope.ts";
export { createGuard } from "../../src/upstream/guard.ts";
export { startProcess } from "../../src/upstream/process.ts";
export { planBox } from "../../src/upstream/sandbox/plan.ts";
export { createRuntime, noRights } from "../../src/upstream/sandbox/policy.ts";
export { defaultLimits } from "../../src/wire/channel.ts";
