import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Skipped on the second Node: the longest tests, and those that depend least on the Node version. */
const onlyOnce = [
  "test/wire/schedules.test.ts",
  "test/docs/commands.test.ts",
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
  "test/e2e/dead-servers.test.ts",
  "test/e2e/screens.test.ts",
  "test/threats/approving.test.ts",
  "test/threats/launchers.test.ts",
  "test/threats/process-guard.test.ts",
  "test/threats/project-files.test.ts",
  "test/threats/records.test.ts",
  "test/threats/upgrade.test.ts",
];

const exclude = ["**/node_modules/**", ...(process.env.GUILDHALL_SECOND_NODE ? onlyOnce : [])];
const longTests = { name: "long", include: ["test/**/*.long.ts"] };
const unitTests = {
  name: "unit",
  include: ["test/**/*.test.ts"],
  exclude: [...exclude, "test/e2e/**"],
};
// Only end-to-end tests start so much of the machine's own software that a retry is allowed; each one is printed.
const endToEndTests = { name: "e2e", include: ["test/e2e/**/*.test.ts"], exclude, retry: 1 };

export default defineConfig({
  test: {
    projects: (process.env.GUILDHALL_LONG ? [longTests] : [unitTests, endToEndTests]).map(
      (test) => ({
        extends: true as const,
        test,
      }),
    ),
    globalSetup: "./test/global-setup.ts",
    reporters: ["default", "./test/retries.ts"],
    maxWorkers: 2,
    // Guards against hanging: no test measures its own speed.
    testTimeout: 120_000,
    // Halls in the tests' own process must not write to the data folder of the person who runs them.
    env: { XDG_DATA_HOME: join(tmpdir(), "guildhall-test-data") },
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000, interval: 5 } },
  },
});
