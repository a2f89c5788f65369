import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { median, percentile, row, short } from "./figures.mjs";
import { inTurns, pathOf } from "./processes.mjs";

/** `guildhall tui` on a terminal of its own: how soon it is there, how soon a key is on the screen, what it keeps. */
export default { name: "tui", run };

const keys = 60;
const keyEveryMs = 120;
const lines = 100_000;

async function run({ rounds = 11 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-bench-"));
  try {
    const { tui, bare } = await measureStart(folder, rounds);
    const latencies = await measureKeys(folder);
    const grown = await measureMemory(folder);
    const above = tui.map((ms, round) => ms - bare[round]);
    return [
      row(
        "first frame, above a bare node process",
        median(above),
        "ms",
        { atMost: 200 },
        `medians ${short(median(tui))} and ${short(median(bare))} ms, ${rounds} rounds`,
      ),
      row(
        "key press to screen while a run prints 1,000 lines/s, p95",
        percentile(latencies, 0.95),
        "ms",
        { atMost: 50 },
        `p50 ${short(median(latencies))} ms of ${latencies.length}`,
      ),
      row("memory: growth over the second 100,000 lines of a run", grown, "MB", { atMost: 10 }),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureStart(folder, rounds) {
  const measured = { tui: [], bare: [] };
  const startOnce = async (name) => {
    const args =
      name === "tui"
        ? tuiArguments
        : ["-e", 'console.log("1 Tools"); setTimeout(() => {}, 10_000)'];
    return onTerminal(
      folder,
      args,
      async (terminal) => (await terminal.until("1 Tools")) - terminal.startedAt,
    );
  };
  for (const name of Object.keys(measured)) await startOnce(name);
  await inTurns(rounds, Object.keys(measured), async (name) => {
    measured[name].push(await startOnce(name));
  });
  return measured;
}

const tuiArguments = [
  pathOf("../dist/cli.js"),
  "tui",
  "--command",
  process.execPath,
  "--",
  pathOf("servers/chatter.mjs"),
];

/** Types into a form below which the lines run through. */
function measureKeys(folder) {
  return onTerminal(folder, tuiArguments, async (terminal) => {
    await callChatter(terminal, 120_000, 1_000);
    // A frame shows the last of several dozen lines: no single one is sure to be seen.
    await terminal.until(/line 2\d{3} /);
    const latencies = [];
    let typed = "";
    for (let key = 0; key < keys; key++) {
      await new Promise((resolve) => setTimeout(resolve, keyEveryMs));
      const letter = String.fromCharCode(97 + (key % 26));
      typed += letter;
      const pressedAt = performance.now();
      const seen = terminal.until(typed.slice(-12));
      terminal.press(letter);
      latencies.push((await seen) - pressedAt);
    }
    return latencies;
  });
}

function measureMemory(folder) {
  return onTerminal(folder, tuiArguments, async (terminal) => {
    await callChatter(terminal, 2 * lines, 20_000);
    // The first frame past a hundred thousand.
    await terminal.until(/line 1\d{5} /);
    const before = terminal.memoryMb();
    await terminal.until(`said ${2 * lines} lines`);
    return terminal.memoryMb() - before;
  });
}

/** To the tool's form, its last two fields filled in, called, and back to its first field. */
async function callChatter(terminal, count, perSecond) {
  await terminal.until("chatter", "2025-11-25");
  terminal.press("1");
  await terminal.until("Talks.");
  terminal.press("\r");
  await terminal.until("perSecond");
  terminal.press(`\t${count}\t${perSecond}\u0013\t`);
  await terminal.until("running");
}

async function onTerminal(folder, args, work) {
  const terminal = openTerminal(folder, args);
  try {
    return await work(terminal);
  } finally {
    await terminal.close();
  }
}

const waitMsMax = 60_000;

/** A pseudo terminal, 80 by 24, by util-linux's `script`. */
function openTerminal(folder, args) {
  const startedAt = performance.now();
  const command = `stty cols 80 rows 24; echo "process $$ "; exec ${[process.execPath, ...args].map((arg) => `'${arg}'`).join(" ")}`;
  const child = spawn("script", ["-qfec", command, "/dev/null"], {
    cwd: folder,
    env: { ...process.env, TERM: "xterm-256color", SHELL: "/bin/sh" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let heard = "";
  let pid;
  const waiting = new Set();
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    heard += stripVTControlCharacters(chunk);
    pid ??= /process (\d+) /.exec(heard)?.[1];
    for (const look of waiting) look();
    heard = heard.slice(-8_000);
  });
  return {
    startedAt,
    press: (text) => child.stdin.write(text),
    memoryMb: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024,
    /** When all of these were on the screen, counted from what is heard after the last such wait. */
    until: (...texts) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(
          () => reject(new Error(`${texts.join(" and ")} did not appear: ${heard}`)),
          waitMsMax,
        );
        const look = () => {
          if (
            !texts.every((text) =>
              typeof text === "string" ? heard.includes(text) : text.test(heard),
            )
          )
            return;
          clearTimeout(late);
          waiting.delete(look);
          heard = "";
          resolve(performance.now());
        };
        waiting.add(look);
        look();
      }),
    async close() {
      const over = new Promise((resolve) => child.once("exit", resolve));
      process.kill(Number(pid), "SIGTERM");
      await over;
    },
  };
}
