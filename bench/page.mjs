import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { median, row, short } from "./figures.mjs";
import { pathOf } from "./processes.mjs";

/** The page over 3,000 tools and 10,000 calls: how soon it is there, how it scrolls, what it keeps. */
export default { name: "page", run };

const tools = 3_000;
const calls = 10_000;
const inFlight = 100;
const scrollMs = 3_000;
/** Part of a screen once the hall has answered. */
const filled = {
  overview: "main .columns:has(a[href^='#/servers/']):has(a[href^='#/calls/'])",
  calls: "[role=row][data-index]",
};
const cli = pathOf("../dist/cli.js");

async function run({ rounds = 5 } = {}) {
  const site = await openSite();
  try {
    const first = { overview: [], calls: [] };
    for (let round = 0; round < rounds; round++)
      for (const [screen, ms] of Object.entries(first))
        ms.push(await measureFirst(site, screen, filled[screen]));
    const scrolled = [await measureScrolling(site, "tools"), await measureScrolling(site, "calls")];
    const heap = await measureHeap(site.page);
    return [
      ...Object.entries(first).map(([screen, ms]) =>
        row(
          `${screen}: first screen with its contents, after the HTML`,
          median(ms),
          "ms",
          { atMost: 300 },
          `${rounds} loads, most ${short(Math.max(...ms))} ms`,
        ),
      ),
      row(
        "longest task of the main thread while both lists scroll",
        Math.max(...scrolled.map(({ longest }) => longest)),
        "ms",
        { atMost: 50 },
        "0: none of 50 ms or more",
      ),
      row(
        "processor time of the longest of these tasks",
        Math.max(...scrolled.map(({ processor }) => processor)),
        "ms",
        { atMost: 50 },
        "without the time that other programs took from it",
      ),
      row(
        "frames a second while they scroll",
        Math.min(...scrolled.map(({ fps }) => fps)),
        "fps",
        {},
        `tools ${short(scrolled[0].fps)}, calls ${short(scrolled[1].fps)}`,
      ),
      row("JavaScript heap with both lists read, garbage collected", heap, "MB", { atMost: 120 }),
    ];
  } finally {
    await site.close();
  }
}

/** A hall with its own home in a temporary folder, and Debian's Chromium signed in to its page. */
async function openSite() {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-bench-"));
  const home = join(folder, "home");
  const env = {
    ...process.env,
    HOME: home,
    XDG_DATA_HOME: join(home, "data"),
    XDG_CONFIG_HOME: join(home, "config"),
  };
  const config = {
    mcpServers: {
      shop: {
        command: "node",
        args: [pathOf("../test/servers/defined.mjs"), "tools.json", "starts"],
      },
    },
    expose: "search",
  };
  mkdirSync(join(home, "config/guildhall"), { recursive: true });
  writeFileSync(
    join(home, "config/guildhall/config.json"),
    JSON.stringify({ trust: { unattended: true } }),
  );
  writeFileSync(join(folder, "guildhall.json"), JSON.stringify(config));
  writeFileSync(join(folder, "tools.json"), JSON.stringify(Array.from({ length: tools }, tool)));
  const options = { cwd: folder, env, encoding: "utf8" };
  execFileSync(process.execPath, [cli, "verify", "--yes"], options);
  await fill(options);
  const port = await findPort();
  const hall = spawn(process.execPath, [cli, "serve", "--port", String(port), "--json"], {
    ...options,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await new Promise((resolve) => hall.stdout.once("data", resolve));
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(watchMainThread);
  const { url: signIn } = JSON.parse(
    execFileSync(process.execPath, [cli, "open", "--json"], options),
  );
  await page.goto(signIn);
  await page.getByText("Live").waitFor();
  return {
    url: `http://127.0.0.1:${port}`,
    page,
    async close() {
      await browser.close();
      const over = new Promise((resolve) => hall.once("exit", resolve));
      hall.kill("SIGTERM");
      await over;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function tool(_, index) {
  return {
    name: `tool_${index}`,
    description: `Reads shelf ${index} of the archive and says what stands there.`,
    inputSchema: { type: "object", properties: { shelf: { type: "string" } } },
    annotations: { readOnlyHint: true },
  };
}

/** Runs in the page before its own scripts. */
function watchMainThread() {
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      globalThis.longTasks.push({ startTime, duration });
  }).observe({ entryTypes: ["longtask"] });
  globalThis.firstAt = (selector) =>
    new Promise((resolve) => {
      const look = () => {
        if (document.querySelector(selector)) resolve(performance.now());
        else requestAnimationFrame(look);
      };
      look();
    });
}

/** Calls a tool through `guildhall mcp`, which records the calls in the project. */
async function fill(options) {
  const client = spawn(process.execPath, [cli, "mcp"], {
    ...options,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const send = (message) =>
    client.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "crowd", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  let [sent, answers] = [0, 0];
  const call = () =>
    send({ id: sent++, method: "tools/call", params: { name: "shop__tool_1", arguments: {} } });
  const answered = new Promise((resolve, reject) => {
    createInterface({ input: client.stdout }).on("line", (line) => {
      if (line.includes('"id":"first"')) {
        send({ method: "notifications/initialized" });
        for (let open = 0; open < inFlight; open++) call();
      } else if (!line.includes("ran tool_1")) reject(new Error(line.slice(0, 200)));
      else if (++answers === calls) resolve();
      else if (sent < calls) call();
    });
  });
  send({ id: "first", method: "initialize", params });
  await answered;
  const over = new Promise((resolve) => client.once("exit", resolve));
  client.stdin.end();
  await over;
}

/** From the end of the HTML to the first frame with the screen's contents. */
async function measureFirst({ url, page }, screen, selector) {
  await page.goto("about:blank");
  await page.goto(`${url}/#/${screen}`, { waitUntil: "commit" });
  return page.evaluate(async (wanted) => {
    const at = await globalThis.firstAt(wanted);
    const [navigation] = performance.getEntriesByType("navigation");
    return at - navigation.responseEnd;
  }, selector);
}

/** Scrolls as far as a person can in this time, a little every frame. */
async function measureScrolling({ url, page }, screen) {
  await page.goto(`${url}/#/${screen}`);
  await page.locator("[role=grid] [data-index]").first().waitFor();
  await page.waitForTimeout(1_000);
  const browser = page.context().browser();
  await browser.startTracing(page, { categories: ["toplevel"] });
  const shown = await page.evaluate(async (ms) => {
    const grid = document.querySelector("[role=grid]");
    const startedAt = performance.now();
    let frames = 0;
    while (performance.now() - startedAt < ms) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      grid.scrollTop += 300;
      frames += 1;
    }
    const elapsed = performance.now() - startedAt;
    await new Promise((resolve) => setTimeout(resolve, 200));
    const long = globalThis.longTasks.filter(({ startTime }) => startTime >= startedAt);
    return {
      fps: (1_000 * frames) / elapsed,
      longest: Math.max(0, ...long.map(({ duration }) => duration)),
    };
  }, scrollMs);
  return { ...shown, processor: longestTask(await browser.stopTracing()) };
}

/** Of the main thread, in ms of processor time. */
function longestTask(trace) {
  const { traceEvents } = JSON.parse(trace.toString());
  const nameOf = ({ pid, tid }) => `${pid}/${tid}`;
  const threads = traceEvents.filter(({ args }) => args?.name === "CrRendererMain").map(nameOf);
  const tasks = traceEvents.filter(
    (event) => event.name.endsWith("RunTask") && threads.includes(nameOf(event)),
  );
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
}

async function measureHeap(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "JSHeapUsedSize").value / 1024 / 1024;
}

async function findPort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
