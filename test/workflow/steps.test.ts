import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { nextLine, stepCommand } from "../../src/cli/advice.ts";
import { answerStep } from "../../src/cli/terminal.ts";
import type { Toolkit } from "../../src/tool.ts";
import { openLedger } from "../../src/trust/ledger.ts";
import { modern } from "../servers/client.ts";
import { createToolkit } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";
import { type Bench, read, startBench } from "./bench.ts";
import { makeProject, type Project, typescriptService } from "./projects.ts";

const description = "Users can add notes with a title. Only the owner sees a note.";
const spec = "specs/001-users-notes-title";
const forms = { elicitation: { form: {} } };

async function upTo(
  step: "specify" | "plan" | "tasks",
  { call }: Bench,
  project: Project,
): Promise<string> {
  const { data } = await call("specify", {
    feature_description: description,
    spec_directory: project.path("specs"),
  });
  const spec_directory = String(data.directory);
  await call("clarify", { spec_directory, answers: ["yes", "yes", "yes", "yes", "yes"] });
  const steps = ["specify", "plan", "tasks"];
  for (const next of steps.slice(1, steps.indexOf(step) + 1))
    expect(await call(next, { spec_directory })).toMatchObject({ isError: false });
  return spec_directory;
}

test("the five tools have the properties of the contract; all others are optional", async () => {
  using project = makeProject();
  await using bench = await startBench({ folder: project.folder });
  const { tools } = (await bench.client.result("tools/list", modern())) as unknown as {
    tools: {
      name: string;
      inputSchema: { required?: string[]; properties: Record<string, JsonObject> };
    }[];
  };
  const text = { type: "string" };
  const known: Record<
    string,
    { required: readonly string[]; properties: Record<string, JsonObject> }
  > = {
    specify: {
      required: ["feature_description", "spec_directory"],
      properties: { feature_description: text, spec_directory: text },
    },
    clarify: {
      required: ["spec_directory"],
      properties: { spec_directory: text, questions: { type: "array", items: text } },
    },
    plan: { required: ["spec_directory"], properties: { spec_directory: text } },
    tasks: { required: ["spec_directory"], properties: { spec_directory: text } },
    implement: {
      required: ["spec_directory"],
      properties: { spec_directory: text, task_filter: text },
    },
  };
  for (const [name, { required, properties }] of Object.entries(known)) {
    const { inputSchema } = tools.find((tool) => tool.name === `speckit.${name}`) ?? {
      inputSchema: { required: [], properties: {} },
    };
    expect(inputSchema.required).toEqual(required);
    expect(inputSchema.properties).toMatchObject(properties);
  }
  expect(tools.map(({ name }) => name).filter((name) => name.startsWith("speckit."))).toEqual(
    [
      "analyze",
      "checklist",
      "clarify",
      "constitution",
      "converge",
      "implement",
      "plan",
      "specify",
      "status",
      "tasks",
      "taskstoissues",
    ].map((name) => `speckit.${name}`),
  );
});

test("a missing prerequisite is named, with the step to run as data", async () => {
  using project = makeProject();
  await using bench = await startBench({ folder: project.folder });
  const spec_directory = project.path(spec);
  for (const step of ["clarify", "plan", "tasks", "implement", "checklist", "analyze"]) {
    expect(await bench.call(step, { spec_directory }), step).toMatchObject({
      isError: true,
      code: "execution",
      data: { next: [{ do: "run-step", step: "specify" }] },
      text: expect.stringContaining("Call speckit.specify"),
    });
  }
  await upTo("specify", bench, project);
  expect(await bench.call("tasks", { spec_directory })).toMatchObject({
    isError: true,
    text: expect.stringContaining("has no plan.md"),
  });
  await bench.call("plan", { spec_directory });
  for (const step of ["implement", "analyze"])
    expect(await bench.call(step, { spec_directory })).toMatchObject({
      isError: true,
      text: expect.stringContaining("Call speckit.tasks"),
    });
});

test("a plan is refused while the spec has open questions", async () => {
  using project = makeProject();
  await using bench = await startBench({ folder: project.folder });
  const { data } = await bench.call("specify", {
    feature_description: "Dark mode",
    spec_directory: project.path("specs"),
  });
  expect(await bench.call("plan", { spec_directory: String(data.directory) })).toMatchObject({
    isError: true,
    text: expect.stringContaining("spec.md has open questions"),
    data: { next: [{ do: "run-step", step: "clarify" }] },
  });
  expect(project.files(String(data.folder))).not.toContain("plan.md");
});

describe("clarify", () => {
  const marked =
    "- **FR-098**: The colour MUST be [NEEDS CLARIFICATION: Which colour: red, blue, or green?]\n- **FR-099**: The size MUST be [NEEDS CLARIFICATION: What size?]\n\n### Key Entities";

  async function withMarks(bench: Bench, project: Project): Promise<string> {
    const directory = await upTo("specify", bench, project);
    project.write(
      `${spec}/spec.md`,
      project.read(`${spec}/spec.md`).replace("### Key Entities", marked),
    );
    return directory;
  }

  test("asks a modern client one question a round and saves each answer at once", async () => {
    using project = makeProject();
    await using bench = await startBench({ folder: project.folder });
    const params = {
      name: "speckit.clarify",
      arguments: { spec_directory: await withMarks(bench, project) },
    };
    const first = await bench.client.result("tools/call", modern(params, forms));
    expect(first).toMatchObject({ resultType: "input_required" });
    expect(Object.keys(first.inputRequests as object)).toEqual(["clarify-1"]);
    const requests = first.inputRequests as Record<
      string,
      { params: { requestedSchema: { properties: { answer: JsonObject } } } }
    >;
    const answer = requests["clarify-1"]?.params.requestedSchema.properties.answer;
    expect(answer).toMatchObject({
      enum: ["Red", "Blue", "Green"],
      enumNames: ["Red (recommended)", "Blue", "Green"],
      default: "Red",
    });
    const second = await bench.client.result(
      "tools/call",
      modern(
        {
          ...params,
          requestState: first.requestState,
          inputResponses: { "clarify-1": accept("Blue") },
        },
        forms,
      ),
    );
    expect(second).toMatchObject({ resultType: "input_required" });
    expect(project.read(`${spec}/spec.md`)).toContain("The colour MUST be blue");
    const last = await bench.client.request(
      "tools/call",
      modern(
        {
          ...params,
          requestState: second.requestState,
          inputResponses: { "clarify-2": { action: "decline" } },
        },
        forms,
      ),
    );
    expect(read(last)).toMatchObject({
      isError: false,
      data: { answered: 1, state: "paused", next: [{ do: "run-step", step: "clarify" }] },
    });
    expect(project.read(`${spec}/spec.md`)).toContain(
      "- Q: Which colour: red, blue, or green? → A: Blue",
    );
    expect(project.read(`${spec}/spec.md`)).toContain("[NEEDS CLARIFICATION: What size?]");
  });

  test("asks a legacy client by elicitation", async () => {
    using project = makeProject();
    await using bench = await startBench({ folder: project.folder });
    const spec_directory = await withMarks(bench, project);
    const client = bench.hall.connect();
    await client.greet("2025-11-25", { elicitation: {} });
    const id = client.ask("tools/call", {
      name: "speckit.clarify",
      arguments: { spec_directory },
      _meta: { progressToken: 7 },
    });
    for (const content of [accept("Green"), accept("Leave it out of this feature", "1")]) {
      const asked = await client.heard("elicitation/create");
      client.send({ jsonrpc: "2.0", id: asked.id as number, result: content });
    }
    expect(read(await client.answer(id))).toMatchObject({
      isError: false,
      data: { answered: 2, next: [{ do: "run-step", step: "plan" }] },
    });
    expect(project.read(`${spec}/spec.md`)).toContain("The size MUST be 1");
    const progress = client.received.filter(({ method }) => method === "notifications/progress");
    expect(progress[0]).toMatchObject({
      params: { progressToken: 7, total: 100, message: "Looking for open questions" },
    });
  });

  test("returns the questions if the client cannot ask, and takes answers in order", async () => {
    using project = makeProject();
    await using bench = await startBench({ folder: project.folder });
    const spec_directory = await withMarks(bench, project);
    const asked = await bench.call("clarify", { spec_directory });
    expect(asked).toMatchObject({
      isError: false,
      data: {
        state: "paused",
        questions: [
          { question: "Which colour: red, blue, or green?", recommended: "Red" },
          { question: "What size?" },
        ],
      },
    });
    const answered = await bench.call("clarify", {
      spec_directory,
      answers: ["yes", "Small", "x", "y"],
    });
    expect(answered).toMatchObject({
      isError: false,
      data: { answered: 2, state: "completed", next: [{ step: "plan" }], questions: [] },
    });
    expect(answered.data.notes).toEqual(["2 of 4 answers had no question"]);
    const text = project.read(`${spec}/spec.md`);
    expect(text).toContain("The colour MUST be red\n");
    expect(text).toContain("- Q: What size? → A: Small\n");
    expect(project.read(`${spec}/checklists/requirements.md`)).toContain(
      "- [x] No [NEEDS CLARIFICATION] markers remain",
    );
    expect((await bench.call("clarify", { spec_directory })).text).toContain("No open questions");
  });

  test("answers a given question of the spec in its place", async () => {
    using project = makeProject();
    await using bench = await startBench({ folder: project.folder });
    const spec_directory = await withMarks(bench, project);
    await bench.call("clarify", { spec_directory, questions: ["What size?"], answers: ["Small"] });
    expect(project.read(`${spec}/spec.md`)).toContain("The size MUST be small");
  });

  test("asks given questions as they are", async () => {
    using project = makeProject();
    await using bench = await startBench({ folder: project.folder });
    const spec_directory = await upTo("specify", bench, project);
    const questions = ["Is there a dark mode?", "Which languages?"];
    expect((await bench.call("clarify", { spec_directory, questions })).data.questions).toEqual(
      questions.map((question) => ({ question, options: [], recommended: null })),
    );
    await bench.call("clarify", { spec_directory, questions, answers: ["No", "Only English"] });
    const text = project.read(`${spec}/spec.md`);
    expect(text).toContain(
      "- Q: Is there a dark mode? → A: No\n- Q: Which languages? → A: Only English",
    );
    expect(text).toMatch(
      /## Assumptions[\s\S]*- Is there a dark mode\? No\.\n- Which languages\? Only English\./,
    );
  });
});

function accept(answer: string, other = ""): JsonObject {
  return { action: "accept", content: { answer, other } };
}

describe("at a terminal", () => {
  const params = {
    message: "Question 1 of 2: Which colour?",
    requestedSchema: {
      properties: {
        answer: { enum: ["Red", "Blue"], enumNames: ["Red (recommended)", "Blue"] },
        other: { type: "string" },
      },
    },
  };

  test.each([
    [["2"], { answer: "Blue", other: "" }],
    [["b"], { answer: "Blue", other: "" }],
    [["yes"], { answer: "Red", other: "" }],
    [[""], { answer: "Red", other: "" }],
    [["7", "light green"], { answer: "Red", other: "light green" }],
  ])("one line answers a question: %j", async (lines, content) => {
    const shown: string[] = [];
    const left = [...lines];
    expect(
      await answerStep(
        params,
        async () => left.shift() ?? "",
        (text) => shown.push(text),
      ),
    ).toEqual({ action: "accept", content });
    expect(left).toEqual([]);
    expect(shown.slice(0, 3)).toEqual([
      "Question 1 of 2: Which colour?",
      "  1. Red (recommended)",
      "  2. Blue",
    ]);
  });

  test("advice is worded as commands", () => {
    const advice = { do: "run-step", step: "implement" } as const;
    expect(stepCommand({ ...advice, arguments: { completed: ["T001", "T002"] } })).toBe(
      "spec run implement --completed T001 T002",
    );
    expect(stepCommand({ do: "run-step", step: "specify" })).toBe('spec new "…"');
    // Another feature may be the active one.
    expect(nextLine([advice], "my notes")).toBe(
      "Next: guildhall spec run implement --feature 'my notes'",
    );
    expect(nextLine([{ do: "retry-after", seconds: 1 }], undefined)).toBe("");
  });
});

describe("implement", () => {
  const tasks = `# Tasks: Notes

## Phase 1: Setup

- [ ] T001 Create src/notes/
- [ ] T002 [P] Write src/notes/a.ts
- [ ] T003 [P] Write src/notes/b.ts
- [ ] T004 [P] Write more of src/notes/b.ts

## Phase 2: Foundational

- [ ] T005 [US1] Write src/notes/c.ts
- [ ] T006 Run \`node --version\` (package.json)
`;

  async function ready(bench: Bench, project: Project): Promise<string> {
    const directory = await upTo("plan", bench, project);
    project.write(`${spec}/tasks.md`, tasks);
    return directory;
  }

  const doneIds = (project: Project): string[] =>
    [...project.read(`${spec}/tasks.md`).matchAll(/^- \[X\] (T\d+)/gm)].map(([, id]) => id ?? "");

  test("reports items that only a person can tick, and continues", async () => {
    using project = makeProject();
    await using bench = await startBench({ folder: project.folder });
    const spec_directory = await ready(bench, project);
    expect(await bench.call("implement", { spec_directory })).toMatchObject({
      isError: false,
      data: {
        tasks: [{ id: "T001" }],
        notes: ["checklists/requirements.md: 12 items left for a person to tick"],
      },
    });
  });

  test("takes reports despite open checklists, by either tool", async () => {
    using project = makeProject();
    await using bench = await startBench({ folder: project.folder });
    const spec_directory = await ready(bench, project);
    project.write(`${spec}/checklists/security.md`, openChecklist);
    expect(await bench.call("implement", { spec_directory, completed: ["T001"] })).toMatchObject({
      isError: false,
      data: { done: 1 },
    });
    expect(await bench.call("tasks", { spec_directory, completed: ["T002"] })).toMatchObject({
      isError: false,
      data: {
        done: 2,
        total: 6,
        state: "paused",
        next: [{ step: "implement" }],
        tasks: [{ id: "T003" }],
      },
    });
    expect(doneIds(project)).toEqual(["T001", "T002"]);
    expect(await bench.call("tasks", { spec_directory, completed: ["T099"] })).toMatchObject({
      isError: true,
      code: "validation",
    });
  });

  test("takes a report of the last tasks that a filter matched", async () => {
    using project = makeProject();
    await using bench = await startBench({ folder: project.folder });
    const spec_directory = await ready(bench, project);
    const completed = ["T001", "T002", "T003", "T004", "T005", "T006"];
    expect(
      await bench.call("implement", { spec_directory, completed, task_filter: "next" }),
    ).toMatchObject({ isError: false, data: { done: 6, total: 6 } });
  });

  const openChecklist =
    "# Security Checklist\n\n- [ ] CHK001 Is it said who may do what?\n- [x] CHK002 Is it said what is logged?\n";

  test("stops at open checklists, asks the user if it can, and continues with force", async () => {
    using project = makeProject();
    await using bench = await startBench({ folder: project.folder });
    const spec_directory = await ready(bench, project);
    project.write(`${spec}/checklists/security.md`, openChecklist);
    expect(await bench.call("implement", { spec_directory })).toMatchObject({
      isError: true,
      code: "execution",
      text: expect.stringContaining("checklists have open items: security.md (1)"),
    });
    const params = { name: "speckit.implement", arguments: { spec_directory } };
    const asked = await bench.client.result("tools/call", modern(params, forms));
    expect(asked).toMatchObject({
      resultType: "input_required",
      inputRequests: {
        checklists: {
          params: { message: expect.stringContaining("| requirements.md | 16 | 4 | 12 |") },
        },
      },
    });
    const went = await bench.client.request(
      "tools/call",
      modern(
        {
          ...params,
          requestState: asked.requestState,
          inputResponses: { checklists: { action: "accept", content: { proceed: true } } },
        },
        forms,
      ),
    );
    expect(read(went)).toMatchObject({ isError: false, data: { tasks: [{ id: "T001" }] } });
    expect(await bench.call("implement", { spec_directory, force: true })).toMatchObject({
      isError: false,
    });
  });

  test("returns one batch after the other to the caller, parallel tasks together, and ticks reported tasks", async () => {
    using project = makeProject();
    await using bench = await startBench({ folder: project.folder });
    const spec_directory = await ready(bench, project);
    const batches: string[][] = [];
    let completed: string[] = [];
    for (;;) {
      const { data, isError, text } = await bench.call("implement", {
        spec_directory,
        completed,
        force: true,
      });
      expect(isError, text).toBe(false);
      completed = (data.tasks as { id: string }[]).map(({ id }) => id);
      if (completed.length === 0) break;
      batches.push(completed);
    }
    // T004 names the file of T003, so it waits; commands are off, so T006 is the caller's.
    expect(batches).toEqual([["T001"], ["T002", "T003"], ["T004"], ["T005"], ["T006"]]);
    expect(doneIds(project)).toEqual(["T001", "T002", "T003", "T004", "T005", "T006"]);
    expect((await bench.call("status", { spec_directory })).data.features).toMatchObject([
      { phase: "done", tasks: { done: 6, total: 6 } },
    ]);
    expect(
      await bench.call("implement", { spec_directory, completed: ["T099"], force: true }),
    ).toMatchObject({ isError: true, code: "validation" });
  });

  test("filters tasks, and names the possible filters if none matches", async () => {
    using project = makeProject();
    await using bench = await startBench({ folder: project.folder });
    const spec_directory = await ready(bench, project);
    const first = async (task_filter: string) =>
      (await bench.call("implement", { spec_directory, task_filter, force: true })).data.tasks;
    expect(await first("T003,T005-T006")).toMatchObject([{ id: "T003" }]);
    expect(await first("US1")).toMatchObject([{ id: "T005" }]);
    expect(await first("phase:2")).toMatchObject([{ id: "T005" }]);
    expect(await first("next")).toMatchObject([{ id: "T001" }]);
    expect(await first("unchecked")).toMatchObject([{ id: "T001" }]);
    expect(
      await bench.call("implement", { spec_directory, task_filter: "US9", force: true }),
    ).toMatchObject({
      isError: true,
      code: "validation",
      text: expect.stringContaining("expected: T001-T006, US1, phase:1, phase:2, 6 unchecked"),
    });
  });

  /** An agent that does what it is told, but for the tasks it is told to fail at, or leaves to others. */
  function agentToolkit(
    seen: string[],
    fails: readonly string[] = [],
    leaves: readonly string[] = [],
  ): Toolkit {
    return {
      ...createToolkit("helpers", {}),
      id: "helpers",
      prefix: "",
      list: async () => [
        {
          name: "coding_agent",
          inputSchema: { type: "object" },
          annotations: { readOnlyHint: true },
        },
      ],
      async call(_tool, { task }) {
        const id = /T\d{3}/.exec(String(task))?.[0] ?? "";
        seen.push(id);
        if (fails.includes(id))
          return { content: [{ type: "text", text: `${id} went wrong` }], isError: true };
        return {
          content: [{ type: "text", text: "ok" }],
          structuredContent: {
            stopped_because: leaves.includes(id) ? "not sure" : "done",
            planner: "model",
            approvals_needed: [],
          },
        };
      },
    };
  }

  test("gives tasks to an agent, continues after a failed parallel task, and stops at any other failure", async () => {
    using project = makeProject();
    const seen: string[] = [];
    const fails = ["T003"];
    await using bench = await startBench(
      { folder: project.folder },
      { toolkits: [agentToolkit(seen, fails, ["T005"])] },
    );
    const spec_directory = await ready(bench, project);
    const args = { spec_directory, agent: "coding_agent", force: true };
    // Tasks that an agent leaves undone return to the caller, even if others failed.
    expect(await bench.call("implement", args)).toMatchObject({
      isError: true,
      code: "execution",
      text: expect.stringContaining("T003 (T003 went wrong)"),
    });
    expect(doneIds(project)).toEqual(["T001", "T002", "T004"]);
    fails.length = 0;
    seen.length = 0;
    expect(await bench.call("implement", args)).toMatchObject({
      isError: false,
      data: { tasks: [{ id: "T005" }], done: 4 },
    });
    expect(seen).toEqual(["T003", "T005"]);
    project.write(`${spec}/tasks.md`, tasks);
    fails.push("T001");
    seen.length = 0;
    expect(await bench.call("implement", args)).toMatchObject({ isError: true });
    expect(seen).toEqual(["T001"]);
  });

  test("a cancelled step ends the agent's call, keeps finished tasks, and continues after them", async () => {
    using project = makeProject();
    const seen: string[] = [];
    let isEnded = false;
    let isStuck = true;
    const agents = agentToolkit(seen);
    const stuck: Toolkit = {
      ...agents,
      async call(tool, args, context) {
        if (!isStuck || !String(args.task).includes("T002"))
          return agents.call(tool, args, context);
        seen.push("T002");
        return new Promise((_resolve, reject) =>
          context.scope.onCancel((reason) => {
            isEnded = true;
            reject(reason);
          }),
        );
      },
    };
    await using bench = await startBench({ folder: project.folder }, { toolkits: [stuck] });
    const spec_directory = await ready(bench, project);
    const args = { spec_directory, agent: "coding_agent", force: true };
    const id = bench.client.ask(
      "tools/call",
      modern({ name: "speckit.implement", arguments: args }),
    );
    await until(() => seen.includes("T002"), "the second task");
    bench.client.notify("notifications/cancelled", { requestId: id });
    await until(
      () => isEnded && !project.files(".guildhall").some((file) => file.endsWith(".run.json")),
      "the end of implement",
    );
    // T003 runs in parallel with T002 and may be done.
    expect(doneIds(project)).toContain("T001");
    expect(doneIds(project)).not.toContain("T002");
    isStuck = false;
    seen.length = 0;
    expect(await bench.call("implement", args)).toMatchObject({ isError: false });
    // Tasks that need not wait for each other begin in any order.
    expect(seen).toContain("T002");
    expect(seen).not.toContain("T001");
  });

  test("runs commands only if the config allows it, each with an approval that shows the whole command", async () => {
    using project = makeProject(typescriptService);
    using data = makeProject();
    await using bench = await startBench(
      { folder: project.folder, commands: true },
      { trust: { ledger: openLedger(project.folder, { folder: data.folder, warn: () => {} }) } },
    );
    const spec_directory = await ready(bench, project);
    const params = {
      name: "speckit.implement",
      arguments: { spec_directory, task_filter: "T006", force: true },
    };
    const answer = async (
      asked: JsonObject,
      decision: string,
      capabilities = forms,
    ): Promise<JsonObject> => {
      const [key = ""] = Object.keys(asked.inputRequests as object);
      const reply = { [key]: { action: "accept", content: { decision } } };
      return bench.client.result(
        "tools/call",
        modern(
          { ...params, requestState: asked.requestState, inputResponses: reply },
          capabilities,
        ),
      );
    };
    const forStep = await bench.client.result("tools/call", modern(params, forms));
    expect(JSON.stringify(forStep.inputRequests)).toContain("speckit.implement");
    const forCommand = await answer(forStep, "always");
    expect(JSON.stringify(forCommand.inputRequests)).toContain(
      'argv: [\\"node\\",\\"--version\\"]',
    );
    // No lasting yes is offered for commands.
    expect(JSON.stringify(forCommand.inputRequests)).toContain('"enum":["once","no"]');
    expect(read({ result: await answer(forCommand, "no") })).toMatchObject({
      isError: true,
      text: expect.stringContaining("T006 (the user denied the call of"),
    });
    expect(doneIds(project)).toEqual([]);
    const again = await bench.client.result("tools/call", modern(params, forms));
    expect(read({ result: await answer(again, "once") })).toMatchObject({ isError: false });
    expect(doneIds(project)).toEqual(["T006"]);
    // Where nobody can be asked, a person hears what to allow.
    project.write(`${spec}/tasks.md`, tasks);
    const unasked = read(await bench.client.request("tools/call", modern(params)));
    expect(unasked.isError).toBe(true);
    expect(unasked.text).toContain("speckit.command requires approval");
    // A line for a shell is no command.
    project.write(`${spec}/tasks.md`, tasks.replace("node --version", "node --version | sh"));
    expect(read(await bench.client.request("tools/call", modern(params, forms)))).toMatchObject({
      isError: true,
      text: expect.stringContaining("is not a plain command"),
    });
  });
});

test("a constitution is written from principles, amended by version, and keeps hand edits", async () => {
  using project = makeProject({
    "AGENTS.md":
      "- Every change must come with a test.\n- Some prose.\n- Never push to main without a review.\n",
  });
  await using bench = await startBench({ folder: project.folder });
  expect(await bench.call("constitution", {})).toMatchObject({
    isError: false,
    data: {
      version: "1.0.0",
      principles: ["Every change must come with a", "Never push to main without a"],
    },
  });
  const file = ".specify/memory/constitution.md";
  project.write(
    file,
    project.read(file).replace("## Governance\n", "## Governance\n\nA person wrote this.\n"),
  );
  expect(
    (await bench.call("constitution", { principles: ["Small: changes stay small"] })).data.version,
  ).toBe("1.1.0");
  expect(
    (await bench.call("constitution", { principles: ["Small: changes stay under 400 lines"] })).data
      .version,
  ).toBe("1.1.1");
  expect(
    (await bench.call("constitution", { principles: ["Small: changes stay under 400 lines"] }))
      .text,
  ).toContain("No change");
  const text = project.read(file);
  expect(text).toMatch(/^<!--\nSync Impact Report\nVersion: 1\.1\.0 → 1\.1\.1\n/);
  expect(text).toContain("### III. Small\n\nchanges stay under 400 lines");
  expect(text).toContain("A person wrote this.");
  using bare = makeProject();
  await using other = await startBench({ folder: bare.folder });
  expect(await other.call("constitution", {})).toMatchObject({
    isError: true,
    code: "execution",
    text: expect.stringContaining("no principles given"),
  });
});

test("checklists are appended to, and an analysis finds requirements without a task", async () => {
  using project = makeProject();
  await using bench = await startBench({ folder: project.folder });
  const spec_directory = await upTo("tasks", bench, project);
  expect(await bench.call("checklist", { spec_directory, domain: "Security" })).toMatchObject({
    isError: false,
  });
  const first = project.read(`${spec}/checklists/security.md`);
  expect(first).toMatch(/^- \[ \] CHK001 .+\[\w+.*\]$/m);
  expect((await bench.call("checklist", { spec_directory, domain: "Security" })).data.added).toBe(
    0,
  );
  project.write(
    `${spec}/spec.md`,
    project
      .read(`${spec}/spec.md`)
      .replace("### Key Entities", "- **FR-050**: Search MUST be fast.\n\n### Key Entities"),
  );
  expect(
    (await bench.call("checklist", { spec_directory, domain: "Security" })).data.added,
  ).toBeGreaterThan(0);
  expect(project.read(`${spec}/checklists/security.md`).startsWith(first)).toBe(true);
  const report = await bench.call("analyze", { spec_directory });
  expect(report.data.findings).toContainEqual(
    expect.objectContaining({ id: "E1", category: "Coverage", where: "spec.md FR-050" }),
  );
  expect(report.data.findings).toContainEqual(
    expect.objectContaining({ id: "A1", what: "“fast” is not measurable" }),
  );
  expect((await bench.call("analyze", { spec_directory })).data.findings).toEqual(
    report.data.findings,
  );
});

test("features are resources, every step is a prompt, and lists update", async () => {
  using project = makeProject();
  await using bench = await startBench({ folder: project.folder });
  const client = bench.hall.connect();
  await client.greet();
  const uris = async (): Promise<string[]> =>
    ((await client.result("resources/list")).resources as { uri: string }[]).map(({ uri }) => uri);
  expect(await uris()).toEqual([]);
  await upTo("specify", bench, project);
  await client.heard("notifications/resources/list_changed");
  expect(await uris()).toContain("speckit://features/001-users-notes-title/spec.md");
  const { contents } = (await client.result("resources/read", {
    uri: "speckit://features/001-users-notes-title/spec.md",
  })) as unknown as {
    contents: { text: string }[];
  };
  expect(contents[0]?.text).toBe(project.read(`${spec}/spec.md`));
  for (const uri of [
    "speckit://features/../x",
    "speckit://features/001-users-notes-title/../../x",
    "speckit://features/009-none/spec.md",
  ]) {
    expect(await client.request("resources/read", { uri })).toMatchObject({
      error: { data: { error_type: "not_found" } },
    });
  }
  const { prompts } = (await client.result("prompts/list")) as unknown as {
    prompts: { name: string }[];
  };
  expect(prompts.map(({ name }) => name)).toEqual(
    [
      "analyze",
      "checklist",
      "clarify",
      "constitution",
      "converge",
      "implement",
      "plan",
      "specify",
      "tasks",
      "taskstoissues",
    ].map((name) => `speckit.${name}`),
  );
  expect(
    await client.result("prompts/get", {
      name: "speckit.specify",
      arguments: { feature_description: "X" },
    }),
  ).toMatchObject({
    messages: [
      { role: "user", content: { text: expect.stringContaining("Call speckit.specify") } },
    ],
  });
});

test("the steps are listed beside find_tools once .specify exists, and belong to no group", async () => {
  using project = makeProject();
  const files = [
    { name: "notes_agent", description: "Notes", tools: ["helpers.*"], instructions: "" },
  ];
  const helpers: Toolkit = {
    ...createToolkit("helpers", {}),
    list: async () => [{ name: "look", inputSchema: { type: "object" } }],
  };
  await using bench = await startBench(
    { folder: project.folder },
    { faces: ["agents", "search"], agents: { files }, toolkits: [helpers] },
  );
  const names = async (): Promise<string[]> =>
    ((await bench.client.result("tools/list", modern())).tools as { name: string }[]).map(
      ({ name }) => name,
    );
  expect((await names()).filter((name) => name.startsWith("speckit."))).toEqual([]);
  expect(
    bench.hall.hall.groups.all().flatMap(({ tools }) => [...tools].map(({ fullName }) => fullName)),
  ).toEqual(["helpers.look"]);
  await upTo("specify", bench, project);
  expect((await names()).filter((name) => name.startsWith("speckit."))).toHaveLength(11);
});

test("each run has an id, a log and a row with its end", async () => {
  using project = makeProject();
  const rows = new Map<string, unknown>();
  const documents = {
    put: async (key: string, value: unknown) => void rows.set(key, value),
    putText: async (key: string, text: string) => void rows.set(key, JSON.parse(text)),
    find: async () => undefined,
    list: async () => [],
    remove: async () => {},
  };
  await using bench = await startBench({ folder: project.folder, documents });
  const directory = await upTo("plan", bench, project);
  await bench.call("implement", { spec_directory: directory });
  const states = [...rows.values()] as {
    step: string;
    state: string;
    log: string;
    feature: string;
  }[];
  expect(states.map(({ step, state, feature }) => [step, state, feature])).toEqual([
    ["specify", "completed", "001-users-notes-title"],
    ["clarify", "completed", "001-users-notes-title"],
    ["plan", "completed", "001-users-notes-title"],
    ["implement", "failed", "001-users-notes-title"],
  ]);
  expect(states[2]?.log).toBe(".guildhall/logs/001-users-notes-title-plan-20261116-093000.log");
  expect(project.read(states[2]?.log ?? "")).toMatch(
    /^2026-11-16T09:30:00\.000Z run run_[\s\S]+10 % Reading the repository\n[\s\S]+completed: Plan created/,
  );
});
