/**
 * The client side of the official suite: a hall whose only upstream is the suite's server. Both
 * eras, no expected failures.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Check,
  type ConformanceRun,
  listScenarios,
  type Requirements,
  runClientConformance,
  type ScenarioList,
} from "../servers/conformance-suite.ts";

const folder = mkdtempSync(join(tmpdir(), "guildhall-driver-"));
beforeAll(async () => {
  await build({
    absWorkingDir: fileURLToPath(new URL("../..", import.meta.url)),
    entryPoints: { driver: "test/servers/conformance-driver.ts" },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Extensions we do not offer; clients of their own, with a secret, we do. */
const missing: ReadonlySet<string> = new Set([
  "auth/client-credentials-jwt",
  "auth/enterprise-managed-authorization",
  "auth/dpop",
  "auth/dpop-nonce",
  "auth/wif-jwt-bearer",
]);

/** Runs along unscored, and passes all the same. */
const extra = ["auth/client-credentials-basic", "json-schema-2020-12-preservation"];

/** What a client does not do when the server is modern. */
const isOfAnotherEra = ({ scenario, status, errorMessage = "" }: Check): boolean =>
  scenario === "http-standard-headers" &&
  status === "SKIPPED" &&
  /did not send a (notifications\/)?initialize/.test(errorMessage);

const sets = [
  { requirements: "2025-11-25", required: 18, auth: 14 },
  { requirements: "2026-07-28", required: 32, auth: 25 },
] as const satisfies readonly { requirements: Requirements; required: number; auth: number }[];

describe.each(sets)(
  "conformance as a client with $requirements",
  ({ requirements, required, auth }) => {
    let list: ScenarioList;
    let run: ConformanceRun;
    beforeAll(async () => {
      list = await listScenarios(requirements, "client");
      run = await runClientConformance({ folder, script: "driver.mjs", requirements });
    }, 300_000);

    test("the suite is satisfied", () => {
      expect(run.exitCode, run.output.slice(-4_000)).toBe(0);
    });

    test("every required scenario has run, and those of our extensions", () => {
      const ran = new Set(run.checks.map(({ scenario }) => scenario));
      expect(list.required).toHaveLength(required);
      expect(list.required.filter((scenario) => scenario.startsWith("auth/"))).toHaveLength(auth);
      expect(list.unscored.filter((scenario) => !missing.has(scenario)).sort()).toEqual(extra);
      expect([...list.required, ...extra].filter((scenario) => !ran.has(scenario))).toEqual([]);
    });

    test("every check passes, extensions apart", () => {
      const open = run.checks.filter(
        (check) =>
          check.status !== "SUCCESS" &&
          check.status !== "INFO" &&
          !missing.has(check.scenario) &&
          !isOfAnotherEra(check),
      );
      expect(
        open.map(
          ({ scenario, id, status, errorMessage }) =>
            `${status} ${scenario} ${id}: ${errorMessage ?? ""}`,
        ),
      ).toEqual([]);
    });
  },
);
