import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { expectScreen } from "../tui/golden-screen.ts";
import type { Pane } from "../tui/pane.ts";
import { cli, makePlace } from "../tui/place.ts";
import { typescriptService } from "../workflow/projects.ts";

/** The built client on a real terminal, in front of servers that it starts itself. */
const foreign = fileURLToPath(new URL("../servers/foreign-agent.mjs", import.meta.url));

test("takes a feature from a description to tasks over stdio, with a question, a resize and an approval", async () => {
  await using place = makePlace(typescriptService);
  const { project } = place;
  const pane = await place.openClient(
    `--command '${process.execPath}' -- '${cli}' mcp --expose tools`,
  );
  await pane.until("No features yet", "2025-11-25");
  await expectScreen(pane, place, "started");
  await pane.type("n");
  await pane.until("What should the feature do");
  await pane.type("Users can upload photos");
  await expectScreen(pane, place, "described");
  await pane.press("Enter");
  await pane.until("speckit.specify", "completed", "next step: clarify");
  await expectScreen(pane, place, "specified");
  await pane.type("s");
  await pane.until("speckit.clarify asks", "Question 1 of", "(recommended)");
  await expectScreen(pane, place, "asked");
  // The window is resized while the question is open.
  await pane.resize(120, 40);
  await expectScreen(pane, place, "asked-large");
  await pane.resize(80, 24);
  await answerAll(pane);
  expect(project.read("specs/001-users-upload-photos/spec.md")).toContain("## Clarifications");
  await pane.press("Enter");
  await pane.until("Feature Specification:", "next: plan");
  for (const [step, next] of [
    ["plan", "tasks"],
    ["tasks", "implement"],
  ]) {
    await pane.type("s");
    await pane.until(`speckit.${step}`, "completed", `next step: ${next}`);
    await expectScreen(pane, place, `${step}-done`);
  }
  await pane.press("Enter");
  await pane.until("Tasks:", "next: implement");
  await expectScreen(pane, place, "tasks");
  await pane.resize(120, 40);
  await pane.type("s");
  await pane.until("speckit.implement asks", "Allow this call?", "(No)");
  await expectScreen(pane, place, "allow");
  await pane.press("C-g", "Right", "Enter");
  await pane.until("speckit.implement  001-users-upload-photos", "completed");
  await expectScreen(pane, place, "handed-back");
});

/** Accepts the recommended answer of each question. */
async function answerAll(pane: Pane): Promise<void> {
  for (let number = 1; ; number++) {
    const screen = await pane.until(
      new RegExp(`Question ${number} of|speckit.clarify .* completed`),
    );
    if (screen.includes("completed")) return;
    await pane.press("C-g", "C-s");
  }
}

/** Takes the terminal like an editor, waits for a key and changes the document. */
const editor = `
import { appendFileSync } from "node:fs";
process.stdout.write("an editor on the normal screen\\n");
process.stdin.setRawMode(true).once("data", (key) => {
  appendFileSync(process.argv[2], "Edited with " + key + ".\\n");
  process.exit();
});
`;

test("edits a document with the user's editor; Esc cancels an endless step and r retries it", async () => {
  const files = {
    "specs/001-albums/spec.md": "# Feature Specification: Albums\n",
    "specs/001-albums/plan.md": "# Plan\n",
    "editor.mjs": editor,
  };
  await using place = makePlace(files);
  const editing = `${process.execPath} ${place.project.path("editor.mjs")}`;
  const pane = await place.openClient(`--command '${process.execPath}' -- '${foreign}' stdio`, {
    VISUAL: editing,
    EDITOR: editing,
  });
  await pane.until("albums", "tasks", "foreign", "does not offer speckit.clarify");
  await pane.press("Enter");
  await pane.until("[plan.md]", "e edit");
  await pane.type("e");
  await pane.until("an editor on the normal screen");
  expect(await pane.mode()).toEqual({ isAlternate: false, isCursorShown: true });
  await pane.type("x");
  await pane.until("[plan.md]", "Edited with x.", "e edit");
  expect(await pane.mode()).toEqual({ isAlternate: true, isCursorShown: false });
  await pane.type("s");
  await pane.until("Thinking for ever", "running");
  await expectScreen(pane, place, "running");
  await pane.press("Escape");
  await pane.until("cancelled after");
  await expectScreen(pane, place, "cancelled");
  await pane.type("r");
  await pane.until("Thinking for ever", "running", "(1 of 2)");
  await pane.press("Escape");
  await pane.until("cancelled after");
});

test("reconnects to a server that crashed during a call, and keeps typed text", async () => {
  await using place = makePlace();
  const pane = await place.openClient(`--command '${process.execPath}' -- '${foreign}' stdio`);
  await pane.until("2025-11-25");
  await pane.type("nhalf a thought");
  await pane.until("> half a thought");
  await pane.press("M-1");
  await pane.until("search:");
  await pane.type("/crash");
  await pane.until(/1 of \d+ tools/);
  await pane.press("Enter");
  await pane.until("It takes no arguments.");
  await pane.press("C-s");
  await pane.until("failed after");
  await pane.press("M-3");
  await pane.until("> half a thought", /foreign.*2025-11-25/);
  await expectScreen(pane, place, "back");
});

test("restores the terminal on quit, on a signal and on an uncaught exception", async () => {
  const boom = 'setTimeout(() => { throw new Error("boom") })';
  // Commands survive an uncaught exception, except the last one here.
  const bomb = `process.on("SIGUSR2", () => ${boom}); process.on("SIGPWR", () => { process.removeAllListeners("uncaughtException"); ${boom} })`;
  const args = `--command '${process.execPath}' -- '${foreign}' stdio`;
  await using place = makePlace();
  const pane = await place.openClient(args, {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(bomb)}`,
  });
  const endings: readonly (readonly [end: () => Promise<unknown>, said: string])[] = [
    [() => pane.type("q"), "code 0"],
    [async () => process.kill(await pane.program(), "SIGTERM"), "code 0"],
    [
      async () => {
        process.kill(await pane.program(), "SIGUSR2");
        await pane.until("Unexpected error; see the log.");
        process.kill(await pane.program(), "SIGPWR");
      },
      "Error: boom",
    ],
  ];
  for (const [end, said] of endings) {
    await pane.until("2025-11-25");
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
});
