// The policies of a hall, for the bench.
export { Policies } from "../../src/trust/policy/policies.ts";
