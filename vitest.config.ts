import { defineConfig } from "vitest/config";

/** On the second Node: what takes longest and depends least on which Node it is. */
const onlyOnce = [
  "test/wire/schedules.test.ts",
  "test/e2e/conformance-client.test.ts",
  "test/e2e/conformance-behind.test.ts",
  "test/e2e/commands.test.ts",
  "test/e2e/agents.test.ts",
  "test/e2e/code-mode.test.ts",
  "test/e2e/evaluate-lisp.test.ts",
  "test/e2e/registration.test.ts",
  "test/e2e/spec.test.ts",
  "test/e2e/trust.test.ts",
  "test/e2e/http-load.test.ts",
  "test/e2e/groups.test.ts",
  "test/e2e/install.test.ts",
  "test/e2e/login.test.ts",
  "test/e2e/tui.test.ts",
  "test/e2e/tui-hall.test.ts",
  "test/lisp/differential.test.ts",
  "test/lisp/generated.test.ts",
  "test/store/postgres-store.test.ts",
];

export default defineConfig({
  test: {
    exclude: ["**/node_modules/**", ...(process.env.GUILDHALL_SECOND_NODE ? onlyOnce : [])],
    include: process.env.GUILDHALL_LONG ? ["test/**/*.long.ts"] : ["test/**/*.test.ts"],
    maxWorkers: 2,
    // Many tests run real processes against real clocks; one that a busy machine disturbed is taken again, and shown as such.
    retry: 1,
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
});
