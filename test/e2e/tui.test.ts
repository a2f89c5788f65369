import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Pane } from "../tui/pane.ts";
import { cli, makePlace } from "../tui/place.ts";
import { type Project, typescriptService } from "../workflow/projects.ts";

/** The built client on a real terminal, as a person uses it, in front of servers that it starts itself. */
const foreign = fileURLToPath(new URL("../servers/foreign-agent.mjs", import.meta.url));

/** What differs from run to run is taken out. */
function steady(screen: string, { folder }: Project): string {
  return screen
    .replaceAll(folder, "/project")
    .replace(/tui-[\w.-]*…?/g, "tui-….log")
    .replace(/\d+(?:\.\d)? s\b/g, "N s")
    .replace(/[█░]+ +\d+ %/g, "▒ N %");
}

const lastLines = (screen: string, count: number): string => screen.split("\n").slice(-count).join("\n");

test("from a description to tasks against the hall over stdio, with a question answered, a resize, and an approval", async () => {
  await using place = makePlace(typescriptService);
  const { project } = place;
  const pane = await place.openClient(`--command '${process.execPath}' -- '${cli}' mcp --expose tools`);
  const started = await pane.until("No features yet", "(modern)");
  expect(started.split("\n")[1]).toBe("1 Features  2 Run  3 Tools  4 Agents  5 Lisp");
  await pane.type("n");
  await pane.until("What should it do");
  await pane.type("Users can upload photos");
  await pane.press("Enter");
  const specified = await pane.until("speckit.specify", "completed", "next step: clarify");
  expect(specified).toContain("Specification created at");
  await pane.type("s");
  await pane.until("speckit.clarify asks", "Question 1 of", "● Only whoever created them (recommended)");
  // While the question waits, the window changes its size.
  await pane.resize(120, 40);
  expect((await pane.until("─".repeat(120))).split("\n")).toHaveLength(40);
  await pane.resize(80, 24);
  await answerAll(pane);
  expect(project.read("specs/001-users-upload-photos/spec.md")).toContain("Only whoever created them");
  await pane.press("Enter");
  await pane.until("Feature Specification: Upload photos", "next: plan");
  for (const [step, next] of [
    ["plan", "tasks"],
    ["tasks", "implement"],
  ]) {
    await pane.type("s");
    await pane.until(`speckit.${step}`, "completed", `next step: ${next}`);
  }
  await pane.press("Enter");
  await pane.until("[spec.md]");
  await pane.press("Right");
  const tasks = await pane.until("Tasks: Upload photos", "next: implement");
  // The first line names the command, which is somewhere else on every machine.
  await expect(`${tasks.split("\n").slice(1).join("\n")}\n`).toMatchFileSnapshot("../golden/tui-e2e/tasks.txt");
  await pane.type("s");
  await pane.until("speckit.implement asks", "Allow this call?", "● No");
  await pane.press("C-g", "Right", "Enter");
  expect(await pane.until("speckit.implement  001-users-upload-photos", "completed")).toContain("T001");
}, 60_000);

/** Takes what is recommended, question by question. */
async function answerAll(pane: Pane): Promise<void> {
  for (let number = 1; ; number++) {
    const screen = await pane.until(new RegExp(`Question ${number} of|speckit.clarify .* completed`));
    if (screen.includes("completed")) return;
    await pane.press("C-g", "C-s");
  }
}

test("a step that never ends is cancelled with Esc, and r tries it again", async () => {
  const files = { "specs/001-albums/spec.md": "# Feature Specification: Albums\n", "specs/001-albums/plan.md": "# Plan\n" };
  await using place = makePlace(files);
  const pane = await place.openClient(`--command '${process.execPath}' -- '${foreign}' stdio`);
  await pane.until("albums", "tasks", "foreign", "speckit.clarify: those steps cannot run here");
  await pane.type("s");
  await pane.until("Thinking for ever", "running");
  await pane.press("Escape");
  const cancelled = await pane.until("cancelled after");
  expect(steady(lastLines(cancelled, 5), place.project)).toMatchInlineSnapshot(`
    "speckit.tasks was cancelled
    What was done by then stays.
    log: .guildhall/logs/tui-….log

    Enter open the feature  s next step: tasks  r retry  Esc features  ? keys"
  `);
  await pane.type("r");
  await pane.until("Thinking for ever", "running", "(1 of 2)");
  await pane.press("Escape");
  await pane.until("cancelled after");
});

test("a server that is gone in the middle of a call comes back, and nothing typed is lost", async () => {
  await using place = makePlace();
  const pane = await place.openClient(`--command '${process.execPath}' -- '${foreign}' stdio`);
  await pane.until("(legacy)");
  await pane.type("nhalf a thought");
  await pane.until("> half a thought");
  await pane.press("M-3");
  await pane.until("search:");
  await pane.type("crash");
  await pane.until(/1 of \d+ tools/);
  await pane.press("Enter");
  await pane.until("It takes no arguments.");
  await pane.press("C-s");
  await pane.until("failed after");
  await pane.press("M-1");
  await pane.until("> half a thought", /foreign.*\(legacy\)/);
});

test("the terminal is given back on quitting, on a signal, and when something throws", async () => {
  const boom = 'setTimeout(() => { throw new Error("boom") })';
  // The commands survive what nobody caught; the last one must not.
  const bomb = `process.on("SIGUSR2", () => ${boom}); process.on("SIGPWR", () => { process.removeAllListeners("uncaughtException"); ${boom} })`;
  const args = `--command '${process.execPath}' -- '${foreign}' stdio`;
  await using place = makePlace();
  const pane = await place.openClient(args, { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(bomb)}` });
  const endings: readonly (readonly [end: () => Promise<unknown>, said: string])[] = [
    [() => pane.type("q"), "code 0"],
    [async () => process.kill(await pane.program(), "SIGTERM"), "code 0"],
    [
      async () => {
        process.kill(await pane.program(), "SIGUSR2");
        await pane.until("Something went wrong that nobody expected");
        process.kill(await pane.program(), "SIGPWR");
      },
      "Error: boom",
    ],
  ];
  for (const [end, said] of endings) {
    await pane.until("(legacy)");
    expect(await pane.mode()).toEqual({ isAlternate: true, isCursorShown: false });
    await end();
    await pane.until(/[$#]$/);
    await pane.type('echo "code $?"; stty -a | grep -ow "icanon\\|-icanon"');
    await pane.press("Enter");
    expect(await pane.until(said, /\nicanon/)).not.toContain("-icanon\n");
    expect(await pane.mode()).toEqual({ isAlternate: false, isCursorShown: true });
    if (end === endings.at(-1)?.[0]) return;
    await pane.type(`clear; '${process.execPath}' '${cli}' tui ${args}`);
    await pane.press("Enter");
  }
}, 60_000);
