import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeHome, runCommand } from "../servers/home.ts";
import { builtCli, watchProcess } from "../servers/serve-process.ts";

/**
 * Twelve servers from npm, installed for this test, each in its sandbox and called there. Services that they use are
 * stand-ins on this machine. docs/servers.md has the list.
 */
interface Entry {
  readonly package: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly call: readonly [tool: string, args: object];
  readonly answer: string;
  /** How many rights it learns before the call works, at least and at most. */
  readonly learns?: readonly [least: number, most: number];
}

const folder = mkdtempSync(join(tmpdir(), "sandbox-servers-"));
// In lower case, because mcp-obsidian changes other letters.
const vault = join(tmpdir(), `sandbox-vault-${process.pid}`);
const cli = builtCli();
let site: Server;
let redis: Server;

const repository = {
  id: 7,
  name: "hall",
  path_with_namespace: "guild/hall",
  visibility: "public",
  web_url: "http://a.test",
  description: "a hall",
  ssh_url_to_repo: "git@a.test",
  http_url_to_repo: "http://a.test",
  created_at: "2026-01-01",
  last_activity_at: "2026-01-01",
  default_branch: "main",
};

const answers: readonly (readonly [path: RegExp, answer: object])[] = [
  [/^\/api\/v4\/projects/, [repository]],
  [/^\/v\d\/scrape/, { success: true, data: { markdown: "# Scraped page", metadata: {} } }],
  [
    /^\/search/,
    { query: "q", results: [{ title: "Found it", url: "http://a.test", content: "c" }] },
  ],
  [/^\/_cat\/indices/, [{ index: "library", health: "green", status: "open", "docs.count": "3" }]],
  [/^\/chart/, { success: true, resultObj: "http://a.test/pie.png" }],
];

beforeAll(async () => {
  writeFileSync(join(folder, "package.json"), "{}");
  mkdirSync(vault);
  writeFileSync(join(vault, "note.md"), "a note");
  const packages = Object.values(entries({ site: "", redis: "", clone: "", vault: "" })).map(
    (entry) => entry.package,
  );
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", ["install", ...quiet, ...packages], { cwd: folder, stdio: "pipe" });
  site = createHttpServer(({ url = "" }, response) => {
    const [, answer] = answers.find(([path]) => path.test(url)) ?? [undefined, {}];
    response.setHeader("content-type", "application/json");
    response.setHeader("x-elastic-product", "Elasticsearch");
    response.end(JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  // Enough of Redis for GET.
  redis = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      for (const [, name = ""] of `${bytes}`.matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g))
        socket.write(/^get$/i.test(name) ? "$5\r\nkept!\r\n" : "+OK\r\n");
    });
  }).listen(0, "127.0.0.1");
  await Promise.all([once(site, "listening"), once(redis, "listening")]);
}, 900_000);

afterAll(() => {
  site?.close();
  redis?.close();
  for (const made of [folder, vault]) rmSync(made, { recursive: true, force: true });
});

function entries(
  at: Readonly<Record<"site" | "redis" | "clone" | "vault", string>>,
): Readonly<Record<string, Entry>> {
  const official = "@modelcontextprotocol/server-";
  return {
    files: {
      package: `${official}filesystem@2026.8.31`,
      args: ["."],
      call: ["read_text_file", { path: "note.md" }],
      answer: "a note",
    },
    memory: {
      package: `${official}memory@2026.8.31`,
      env: { MEMORY_FILE_PATH: `${at.vault}/memory.jsonl` },
      call: ["create_entities", { entities: [{ name: "Ada", entityType: "p", observations: [] }] }],
      answer: "Ada",
    },
    everything: {
      package: `${official}everything@2026.8.31`,
      call: ["echo", { message: "hello" }],
      answer: "hello",
    },
    thinking: {
      package: `${official}sequential-thinking@2026.8.31`,
      call: [
        "sequentialthinking",
        { thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
      ],
      answer: "thoughtHistoryLength",
    },
    gitlab: {
      package: `${official}gitlab@2025.4.25`,
      env: { GITLAB_API_URL: `${at.site}/api/v4`, GITLAB_PERSONAL_ACCESS_TOKEN: "t" },
      call: ["search_repositories", { search: "hall" }],
      answer: "guild/hall",
    },
    redis: {
      package: `${official}redis@2025.4.25`,
      args: [at.redis],
      call: ["get", { key: "k" }],
      answer: "kept!",
    },
    firecrawl: {
      package: "firecrawl-mcp@3.22.2",
      env: { FIRECRAWL_API_URL: at.site, FIRECRAWL_API_KEY: "k" },
      call: ["firecrawl_scrape", { url: "https://example.com" }],
      answer: "Scraped page",
    },
    searxng: {
      package: "mcp-searxng@1.16.0",
      env: { SEARXNG_URL: at.site },
      call: ["searxng_web_search", { query: "guild" }],
      answer: "Found it",
    },
    chart: {
      package: "@antv/mcp-server-chart@0.9.10",
      env: { VIS_REQUEST_SERVER: `${at.site}/chart` },
      call: ["generate_pie_chart", { data: [{ category: "a", value: 1 }] }],
      answer: "pie.png",
    },
    elastic: {
      package: "@elastic/mcp-server-elasticsearch@0.3.1",
      env: { ES_URL: at.site, ES_API_KEY: "k" },
      call: ["list_indices", { indexPattern: "*" }],
      answer: "library",
    },
    obsidian: {
      package: "mcp-obsidian@1.0.0",
      args: [at.vault],
      call: ["read_notes", { paths: ["note.md"] }],
      answer: "a note",
    },
    git: {
      package: "@cyanheads/git-mcp-server@2.15.3",
      call: ["git_status", { path: at.clone }],
      answer: "kept.md",
      learns: [1, 5],
    },
  };
}

function programOf(name: string): string {
  const home = join(folder, "node_modules", name);
  const { bin } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  return join(home, typeof bin === "string" ? bin : (Object.values(bin)[0] as string));
}

test("twelve servers from npm are called in their sandboxes", { timeout: 900_000 }, async () => {
  using home = makeHome({ "./note.md": "a note", "~/clone/kept.md": "" });
  const portOf = (server: Server): number => (server.address() as AddressInfo).port;
  const all = entries({
    site: `http://127.0.0.1:${portOf(site)}`,
    redis: `redis://127.0.0.1:${portOf(redis)}`,
    clone: home.locate("~/clone"),
    vault,
  });
  expect(Object.keys(all)).toHaveLength(12);
  const mcpServers = Object.fromEntries(
    Object.entries(all).map(([name, { package: wanted, args = [], env = {} }]) => {
      const program = programOf(wanted.replace(/@[^@]*$/, ""));
      const command = process.execPath;
      return [name, { command, args: [program, ...args], env, startTimeoutSeconds: 120 }];
    }),
  );
  home.write("./guildhall.json", { mcpServers });
  execFileSync("git", ["init", "-q"], { cwd: home.locate("~/clone") });
  const { GUILDHALL__DEFAULTS__SANDBOX: _off, ...env } = home.env;
  const run = (...args: readonly string[]) =>
    runCommand([cli, ...args], { cwd: home.project, env });

  expect(await run("build", "--yes")).toMatchObject({ code: 0 });
  for (const [name, { learns, call }] of Object.entries(all)) {
    if (learns === undefined) continue;
    const trial = `${name}.${call[0]}=${JSON.stringify(call[1])}`;
    const learned = await run("sandbox", "learn", name, "--call", trial, "--yes", "--json");
    const { proposed } = JSON.parse(learned.stdout);
    const [least, most] = learns;
    expect(proposed.length, learned.stdout).toBeGreaterThanOrEqual(least);
    expect(proposed.length, learned.stdout).toBeLessThanOrEqual(most);
  }
  // It counts as a tool that reaches out.
  await run("trust", "firecrawl");
  await using hall = watchProcess([cli, "serve", "--port", "0", "--json"], {
    cwd: home.project,
    env,
  });
  await hall.firstLine;
  const results: Record<string, string> = {};
  for (const [name, { call, answer }] of Object.entries(all)) {
    const explained = await run("sandbox", "explain", name, "--json");
    const { state } = JSON.parse(explained.stdout);
    const { stdout, stderr } = await run("call", `${name}.${call[0]}`, JSON.stringify(call[1]));
    results[name] = stdout.includes(answer) ? state : `${state}: ${stdout}${stderr}`;
  }
  expect(results).toEqual(Object.fromEntries(Object.keys(all).map((name) => [name, "confined"])));
});
