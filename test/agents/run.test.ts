import { expect, test } from "vitest";
import { limitsOf } from "../../src/agents/limits.ts";
import type { OfferedTool, Planner } from "../../src/agents/planner.ts";
import { Run } from "../../src/agents/run.ts";
import type { Workbench } from "../../src/agents/workbench.ts";
import { Scope } from "../../src/base/scope.ts";
import type { Progress } from "../../src/tool.ts";
import { createToolkit, text } from "../servers/toolkits.ts";

test("a run that thinks for long, or waits for a tool, gives signs of life, and what it tells grows", async () => {
  const told: Progress[] = [];
  let wake = (): void => {};
  const beats = (pattern: RegExp, count: number): Promise<void> =>
    new Promise((resolve) => {
      wake = () => {
        if (told.filter(({ message = "" }) => pattern.test(message)).length >= count) resolve();
      };
      wake();
    });
  const toolkit = createToolkit("slow", {});
  const tool: OfferedTool = {
    name: "slow.wait",
    description: "",
    inputSchema: { type: "object" },
    score: 1,
    isReadOnly: true,
    target: {
      toolkit,
      tool: { name: "wait", inputSchema: { type: "object" } },
      fullName: "slow.wait",
    },
  };
  const bench: Workbench = {
    tools: [tool],
    fits: true,
    toolCount: 1,
    find: async () => [],
    get: () => tool,
    async call() {
      await beats(/^1\/16 slow\.wait … \(\d+ s\)$/, 2);
      return text("waited");
    },
  };
  const planner: Planner = {
    kind: "model",
    async plan(job) {
      await beats(/^thinking \(\d+ s\)$/, 2);
      await job.call("slow.wait", {});
      return { answer: "done", stopped: "done" };
    },
  };
  const run = new Run(
    { agent: "slow_agent", task: "wait", instructions: "", limits: limitsOf() },
    {
      bench,
      scope: new Scope(),
      pulseMs: 10,
      progress(progress) {
        told.push(progress);
        wake();
      },
    },
  );
  expect(await run.work([planner])).toMatchObject({ stopped: "done", answer: "done" });
  const values = told.map(({ progress }) => progress);
  expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
  // Nothing is told of a run that is over.
  const count = told.length;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(told).toHaveLength(count);
});
