/** The official suite against a hall whose tools, resources and prompts all come from a server behind it. */
import { expect, test } from "vitest";
import { startConformanceBehind } from "../servers/conformance-behind.ts";
import { listScenarios, runConformance } from "../servers/conformance-suite.ts";

/**
 * A modern client in front of a legacy server is not in this table: the suite wants its questions under keys of its own
 * choosing, and a legacy server's questions have no keys. `test/contract/eras.test.ts` proves that pair.
 */
test.each([
  { requirements: "2025-11-25", era: "legacy" },
  { requirements: "2025-11-25", era: "modern" },
  { requirements: "2026-07-28", era: "modern" },
] as const)(
  "clients of $requirements find a $era server behind the hall as good as the server itself",
  { timeout: 180_000 },
  async ({ requirements, era }) => {
    const hall = await startConformanceBehind(era);
    try {
      const [{ required }, run] = await Promise.all([
        listScenarios(requirements),
        runConformance({ url: hall.url, requirements }),
      ]);
      const failed = run.checks.filter(
        ({ scenario, status }) =>
          required.includes(scenario) && status !== "SUCCESS" && status !== "INFO",
      );
      expect(
        failed.map(({ scenario, id, errorMessage }) => `${scenario} ${id}: ${errorMessage}`),
      ).toEqual([]);
      const ran = new Set(run.checks.map(({ scenario }) => scenario));
      expect(required.filter((scenario) => !ran.has(scenario))).toEqual([]);
      expect(run.exitCode).toBe(0);
    } finally {
      await hall.close();
    }
  },
);
