import { expect, test } from "vitest";
import { limitsOf } from "../../src/agents/agents.ts";
import type { OfferedTool, Planner } from "../../src/agents/planner.ts";
import { AgentRun } from "../../src/agents/run.ts";
import type { Workbench } from "../../src/agents/workbench.ts";
import { Scope } from "../../src/base/scope.ts";
import type { Progress } from "../../src/tool.ts";
import { text } from "../servers/toolkits.ts";

test("a silent run reports elapsed time, and its progress always grows", async () => {
  const reported: Progress[] = [];
  let wake = (): void => {};
  const beats = (expected: string, count: number): Promise<void> =>
    new Promise((resolve) => {
      wake = () => {
        const matching = reported.filter(
          ({ message, elapsedSeconds }) => message === expected && elapsedSeconds !== undefined,
        );
        if (matching.length >= count) resolve();
      };
      wake();
    });
  const tool: OfferedTool = {
    name: "slow.wait",
    description: "",
    inputSchema: { type: "object" },
    score: 1,
    isReadOnly: true,
  };
  const bench: Workbench = {
    tools: [tool],
    fits: true,
    toolCount: 1,
    find: async () => [],
    get: () => tool,
    async call() {
      await beats("1/16 slow.wait …", 2);
      return text("waited");
    },
  };
  const planner: Planner = {
    kind: "model",
    async plan(job) {
      await beats("thinking", 2);
      await job.call("slow.wait", {});
      return { answer: "done", stopped: "done" };
    },
  };
  const run = new AgentRun(
    { agent: "slow_agent", task: "wait", instructions: "", limits: limitsOf() },
    {
      bench,
      scope: new Scope(),
      pulseMs: 10,
      progress(progress) {
        reported.push(progress);
        wake();
      },
    },
  );
  expect(await run.work([planner])).toMatchObject({ stopped: "done", answer: "done" });
  const values = reported.map(({ progress }) => progress);
  expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
});
