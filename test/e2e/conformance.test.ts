/** The official suite of the protocol against a hall that listens: both eras, no expected failures. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConformanceHall, startConformanceHall } from "../servers/conformance-hall.ts";
import {
  type Check,
  type ConformanceRun,
  listScenarios,
  type Requirements,
  runConformance,
  type ScenarioList,
} from "../servers/conformance-suite.ts";

let hall: ConformanceHall;
beforeAll(async () => {
  hall = await startConformanceHall();
});
afterAll(() => hall.close());

/** Extensions we do not offer. */
const isExtension = (scenario: string): boolean => scenario.startsWith("tasks-");

/**
 * Remarks of the suite that are no failures. A check that could not be made is reported as
 * information too, and must not pass for one that was.
 */
const remarks: ReadonlySet<string> = new Set([
  // Lists are answered with plain JSON, which is as good.
  "server-sse-streams-functional",
  // What went over the wire while a stream was lost and taken up again.
  "outgoing-request",
  "incoming-response",
  "incoming-sse-event",
  "stream-closed",
]);

const sets = [
  {
    requirements: "2025-11-25",
    required: 30,
    unscored: ["server-session-lifecycle", "json-schema-2020-12", "server-sse-polling"],
  },
  {
    requirements: "2026-07-28",
    required: 37,
    unscored: [
      "json-schema-2020-12",
      "http-header-validation",
      "http-custom-header-server-validation",
    ],
  },
] as const satisfies readonly {
  requirements: Requirements;
  required: number;
  unscored: readonly string[];
}[];

describe.each(sets)("conformance with $requirements", ({ requirements, required, unscored }) => {
  let list: ScenarioList;
  let run: ConformanceRun;
  beforeAll(async () => {
    [list, run] = await Promise.all([
      listScenarios(requirements),
      runConformance({ url: hall.url, requirements }),
    ]);
  }, 240_000);

  test("the suite is satisfied", () => {
    expect(run.exitCode, run.output.slice(-4_000)).toBe(0);
  });

  test("every scenario it requires has run, and those it only reports", () => {
    const ran = new Set(run.checks.map(({ scenario }) => scenario));
    expect(list.required).toHaveLength(required);
    expect(list.unscored.filter((scenario) => !isExtension(scenario)).sort()).toEqual(
      [...unscored].sort(),
    );
    expect([...list.required, ...unscored].filter((scenario) => !ran.has(scenario))).toEqual([]);
  });

  test("every check passes, extensions apart", () => {
    const open = run.checks.filter(
      ({ scenario, id, status }) =>
        status !== "SUCCESS" && !isExtension(scenario) && !(status === "INFO" && remarks.has(id)),
    );
    expect(open.map(describeCheck)).toEqual([]);
  });

  test("every message was held against the schema of its version", () => {
    const judged = run.checks
      .filter(({ id, status }) => id === "wire-schema-valid" && status === "SUCCESS")
      .map(({ scenario }) => scenario);
    // These speak HTTP by hand, past the place where the suite looks at messages.
    const byHand = ["server-stateless", "dns-rebinding-protection", "server-sse-multiple-streams"];
    expect(
      list.required.filter((scenario) => !judged.includes(scenario) && !byHand.includes(scenario)),
    ).toEqual([]);
  });
});

function describeCheck({ scenario, id, status, errorMessage }: Check): string {
  return `${status} ${scenario} ${id}: ${errorMessage ?? ""}`;
}
