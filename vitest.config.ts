import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/**
 * Also run on the second Node: tests of streams, processes, HTTP, SQLite, worker threads and terminals. The rest is
 * logic of our own, which cannot depend on the version of Node.
 */
const secondNode = [
  "test/{base,client,net,server,wire}/**/*.test.ts",
  "test/store/{failures,sqlite-store}.test.ts",
  "test/toolkits/{document,lisp-kept,lisp-resume}.test.ts",
  "test/upstream/{faults,http-faults,oauth,process}.test.ts",
];
const endToEnd =
  "crowds,http-{legacy,modern},lifecycle,process,sse-pair,store,tui,tui-gone,websocket";
const isSecondNode = process.env.GUILDHALL_SECOND_NODE !== undefined;

// Node 20 reads this file at every start, which takes longer than all else that a start does. The
// tests start thousands of processes, and none of them leaves this machine.
delete process.env.NODE_EXTRA_CA_CERTS;

const longTests = { name: "long", include: ["test/**/*.long.ts"], isolate: true };
const unitTests = {
  name: "unit",
  include: isSecondNode ? secondNode : ["test/**/*.test.ts"],
  exclude: ["**/node_modules/**", "test/e2e/**", "test/web/**"],
};
const endToEndTests = {
  name: "e2e",
  include: isSecondNode
    ? [`test/e2e/{${endToEnd}}.test.ts`]
    : ["test/e2e/*.test.ts", "test/web/*.test.ts"],
  // Only these start so much of the machine's own software that a retry is allowed; each one is printed.
  retry: 1,
};

export default defineConfig({
  test: {
    projects: (process.env.GUILDHALL_LONG ? [longTests] : [unitTests, endToEndTests]).map(
      (test) => ({
        extends: true as const,
        test,
      }),
    ),
    globalSetup: "./test/global-setup.ts",
    // The files of a worker share their modules: half of the time went into loading them again.
    isolate: false,
    setupFiles: "./test/clean-up.ts",
    reporters: ["default", "./test/retries.ts"],
    // Many tests wait for processes, so a third worker finds the cores idle.
    maxWorkers: 3,
    // Guards against hanging: no test measures its own speed.
    testTimeout: 120_000,
    // Halls in the tests' own process must not write to the data folder of the person who runs them.
    // Their servers start without a sandbox, as it costs time and differs between machines; tests of it turn it on.
    env: {
      XDG_DATA_HOME: join(tmpdir(), "guildhall-test-data"),
      GUILDHALL__DEFAULTS__SANDBOX: "off",
    },
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 5 } },
  },
});
