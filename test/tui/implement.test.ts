import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLog } from "../../src/base/log.ts";
import type { TuiSessionOptions } from "../../src/tui/session.ts";
import { createHallTarget } from "../../src/tui/target.ts";
import { createMemoryPair } from "../../src/wire/memory.ts";
import { createWorkflow } from "../../src/workflow/workflow.ts";
import { startHall } from "../servers/hall.ts";
import { benchOf, type ClientBench, makeFolder, outputOf } from "./client-bench.ts";

/** Our client in front of our own implement, with a task that is a command. */
const command = `import { existsSync } from "node:fs";
process.stdout.write("compiling\\n");
const look = setInterval(() => existsSync("go") && clearInterval(look), 10);
process.on("exit", () => process.stderr.write("one warning\\n"));
`;

async function openAtTask(options: Partial<TuiSessionOptions>): Promise<ClientBench> {
  const folder = makeFolder();
  const feature = join(folder, "specs", "001-x");
  mkdirSync(feature, { recursive: true });
  writeFileSync(join(folder, "build.mjs"), command);
  for (const [name, text] of Object.entries({
    spec: "# X\n",
    plan: "# X\n",
    tasks: "# Tasks: X\n\n## Phase 1: Setup\n\n- [ ] T001 Run `node build.mjs`\n",
  }))
    writeFileSync(join(feature, `${name}.md`), text);
  const hall = await startHall({
    toolkits: [
      createWorkflow({ folder, commands: true, claims: join(folder, "claims"), pulseMs: 100 }),
    ],
  });
  const target = createHallTarget({
    name: "hall",
    folder,
    log: createLog({ level: "silent" }),
    async reach() {
      const [ours, theirs] = createMemoryPair();
      hall.hall.server.accept(theirs);
      return ours;
    },
    isHere: () => true,
    admin: async () => undefined,
    close: () => hall[Symbol.asyncDispose](),
  });
  const bench = benchOf(target, folder, options);
  await bench.until(
    ({ tools, features }) =>
      tools.items.some(({ name }) => name === "speckit.implement") && features.items.length > 0,
  );
  return bench;
}

test("a long command keeps the call alive, its streams stay apart, and elapsed time adds no output", async () => {
  await using bench = await openAtTask({ timeoutMs: 3_000 });
  const over = bench.session.send({ kind: "run step", feature: "001-x", step: "implement" });
  await bench.until(
    ({ runs: [run] }) =>
      run?.progress?.message === "T001: node build.mjs" && (run.progress.elapsedSeconds ?? 0) > 3,
  );
  const [live] = bench.state().runs;
  expect(live && outputOf(live, "out")).toEqual(["compiling"]);
  expect(
    live && outputOf(live, "progress").filter((line) => line.startsWith("T001: node build.mjs")),
  ).toHaveLength(1);
  writeFileSync(join(bench.folder, "go"), "");
  await over;
  const run = await bench.ended();
  expect(run.state.kind).toBe("completed");
  expect(outputOf(run, "err")).toEqual(["one warning"]);
});

test("a call that never stops reporting is ended, with advice", async () => {
  await using bench = await openAtTask({ timeoutMs: 10_000, callMsMax: 1_200 });
  await bench.session.send({ kind: "run step", feature: "001-x", step: "implement" });
  const { state } = await bench.ended();
  expect(state).toMatchObject({
    kind: "timed out",
    failure: {
      message: expect.stringContaining("still running after 1.2 s, the limit for a call"),
      hint: expect.stringContaining("resumes where it stopped"),
    },
  });
});
