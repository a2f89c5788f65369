/**
 * The official suite through the command line's defaults: `guildhall serve` in front of one server,
 * which is made with the SDK and speaks both protocol families. Whatever differs from the server
 * itself is the hall's doing.
 */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fixture, startFixture } from "../servers/conformance-fixture.ts";
import { type Check, listScenarios, runConformance } from "../servers/conformance-suite.ts";
import { type Home, makeHome } from "../servers/home.ts";
import { type ServeProcess, watchProcess } from "../servers/serve-process.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
let fixture: Fixture;
let home: Home;
let hall: ServeProcess;
let url: string;

beforeAll(async () => {
  fixture = await startFixture();
  home = makeHome({
    "./guildhall.json": {
      expose: "tools",
      mcpServers: { fixture: { url: fixture.url, prefix: "" } },
    },
    // By its name alone a tool such as confirm_delete would ask a person.
    "~/.config/guildhall/config.json": { trust: { tools: { "fixture.*": "safe" } } },
  });
  const built = await home.run(cli, ["build", "--yes"]);
  expect(built.code, built.stderr).toBe(0);
  hall = watchProcess([cli, "serve", "--port", "0"], { cwd: home.project, env: home.env });
  const address = /http:\/\/[\d.:]+/.exec(await hall.firstLine)?.[0];
  url = `${address}/mcp`;
}, 120_000);

afterAll(async () => {
  await hall?.[Symbol.asyncDispose]();
  await fixture?.close();
  home?.[Symbol.dispose]();
});

const isOpen = ({ status }: Check): boolean => status === "FAILURE" || status === "WARNING";
const nameOf = ({ scenario, id, status }: Check): string => `${status} ${scenario} ${id}`;

test.each(["2025-11-25", "2026-07-28"] as const)(
  "clients of %s find the server behind the hall as good as the server itself, tasks included",
  { timeout: 400_000 },
  async (requirements) => {
    const { required } = await listScenarios(requirements);
    const direct = await runConformance({ url: fixture.url, requirements });
    const through = await runConformance({ url, requirements });

    const known = new Set(direct.checks.filter(isOpen).map(nameOf));
    const failed = through.checks.filter(({ status }) => status === "FAILURE");
    expect(failed.map((check) => `${nameOf(check)}: ${check.errorMessage}`)).toEqual([]);
    const open = through.checks.filter((check) => isOpen(check) && !known.has(nameOf(check)));
    expect(open.map((check) => `${nameOf(check)}: ${check.errorMessage}`)).toEqual([]);
    const ran = new Set(through.checks.map(({ scenario }) => scenario));
    expect(required.filter((scenario) => !ran.has(scenario))).toEqual([]);
    expect(through.exitCode, through.output.slice(-2_000)).toBe(0);
  },
);
