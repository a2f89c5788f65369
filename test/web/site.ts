import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { CallRow } from "../../src/store/store.ts";
import { allowUnattended } from "../servers/home.ts";
import { type ServeProcess, watchProcess } from "../servers/serve-process.ts";

/** A hall in a process of its own with a project, and Debian's Chromium to look at its page. */
export interface Site {
  readonly folder: string;
  readonly url: string;
  readonly page: Page;
  readonly context: BrowserContext;
  readonly env: NodeJS.ProcessEnv;
  /** Faults of the page: other origins, violated policies, uncaught errors. */
  readonly faults: readonly string[];
  readonly hall: ServeProcess;
  /** Runs a command in the project. */
  run(...args: readonly string[]): Promise<string>;
  /** The address that `guildhall open` prints. */
  open(): Promise<string>;
  /** Starts the hall again on the same port, after it ended. */
  restart(): Promise<void>;
  show(hash: string): Promise<void>;
  close(): Promise<void>;
  /** Also expects that the page had no fault. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface SiteOptions {
  readonly config?: JsonObject;
  readonly files?: Readonly<Record<string, string>>;
  /** Calls of an earlier hall. */
  readonly calls?: readonly CallRow[];
  /** The servers are reviewed before the hall starts. */
  readonly isReviewed?: boolean;
  /** Leave the browser signed out. */
  readonly isSignedOut?: boolean;
}

const worker = new URL("../../dist/store-worker.js", import.meta.url);
const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

const waitMsMax = 90_000;

let browser: Browser;

/** Call it at the top of a test file. */
export function useBrowser(): void {
  beforeAll(async () => {
    const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    browser = await chromium.launch({
      executablePath: "/usr/bin/chromium",
      args: [...sandbox, "--force-color-profile=srgb", "--font-render-hinting=none"],
    });
  });
  afterAll(() => browser.close());
}

/**
 * One site for the tests of a file; call it at the top. A test may find what earlier ones left, but must not need it:
 * a test that is tried again gets a new site.
 */
export function shareSite(options: SiteOptions = {}): () => Site {
  let site: Site;
  const tried = new Set<string>();
  beforeAll(async () => {
    site = await openSite(options);
  });
  beforeEach(async ({ task }) => {
    if (tried.has(task.id)) {
      await site.close();
      site = await openSite(options);
    }
    tried.add(task.id);
  });
  afterAll(() => site[Symbol.asyncDispose]());
  return () => site;
}

export async function openSite(options: SiteOptions = {}): Promise<Site> {
  const { config = {}, files = {}, calls, isReviewed = false, isSignedOut = false } = options;
  const folder = mkdtempSync(join(tmpdir(), "guildhall-page-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  writeFileSync(join(folder, "guildhall.json"), `${JSON.stringify(config, null, 2)}\n`);
  const home = join(folder, "home");
  const env = {
    ...process.env,
    HOME: home,
    XDG_DATA_HOME: join(home, "data"),
    XDG_CONFIG_HOME: join(home, "config"),
  };
  const run = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args], {
      cwd: folder,
      env,
    });
    return stdout;
  };
  if (calls) await keepCalls(folder, env.XDG_DATA_HOME, calls);
  if (isReviewed) {
    allowUnattended(env.XDG_CONFIG_HOME);
    await run("verify", "--yes");
  }
  const port = await findPort();
  const start = (): ServeProcess =>
    watchProcess([cli, "serve", "--port", String(port), "--json"], { cwd: folder, env });
  let hall = start();
  await hall.firstLine;

  const url = `http://127.0.0.1:${port}`;
  const faults: string[] = [];
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: "light",
    locale: "en-GB",
    timezoneId: "UTC",
  });
  // Guards against hanging only, also on a busy machine.
  context.setDefaultTimeout(waitMsMax);
  const page = await context.newPage();
  watchFaults(page, url, faults);
  const open = async (): Promise<string> =>
    (JSON.parse(await run("open", "--json")) as { url: string }).url;
  if (!isSignedOut) {
    await page.goto(await open());
    await isLive(page);
  }
  const close = async (): Promise<void> => {
    // A request that is still in a handler of a test must not fail the run.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await context.close();
    await hall[Symbol.asyncDispose]();
    // Servers of a hall that was killed end a moment later, and may still write.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  return {
    folder,
    url,
    page,
    context,
    env,
    faults,
    get hall() {
      return hall;
    },
    run,
    open,
    async restart() {
      hall = start();
      await hall.firstLine;
    },
    async show(hash) {
      await page.goto(`${url}/#/${hash}`);
    },
    close,
    async [Symbol.asyncDispose]() {
      await close();
      expect(faults).toEqual([]);
    },
  };
}

/** Resolves once the page follows the hall. */
export function isLive(page: Page): Promise<void> {
  return page.getByText("Live", { exact: true }).waitFor();
}

/** Calls a tool as a client over HTTP; resolves with the answer. */
export async function callTool(url: string, name: string, args: JsonObject): Promise<string> {
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name,
        arguments: args,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "test client", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  return response.text();
}

/** Writes them as a hall of this project would. */
async function keepCalls(folder: string, data: string, calls: readonly CallRow[]): Promise<void> {
  const store = openStore(
    {
      path: join(folder, ".guildhall/state.db"),
      sealFolder: join(data, "guildhall/store"),
      worker,
    },
    { log: createLog({ level: "silent" }) },
  );
  for (const call of calls) store.calls.add(call);
  await store.close();
}

function watchFaults(page: Page, url: string, faults: string[]): void {
  page.on("request", (request) => {
    const target = request.url();
    if (!target.startsWith(`${url}/`) && !/^(data|blob):/.test(target))
      faults.push(`request to ${target}`);
  });
  page.on("pageerror", (error) => faults.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    // A hall that is killed under the page, and answers that get lost: that is what those tests are about.
    const isAway = /ERR_(CONNECTION|EMPTY_RESPONSE|INCOMPLETE|FAILED)|status of (401|503)/.test(
      text,
    );
    if (message.type() === "error" && !isAway) faults.push(`console: ${text}`);
  });
}

async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}
