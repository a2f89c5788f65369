// Policies that one person publishes for all halls.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Settings } from "../../src/hall/settings.ts";
import { publishPolicies } from "../../src/hall/together/shared-policies.ts";
import { until } from "../servers/until.ts";
import { type Cluster, startCluster } from "../store/cluster.ts";
import { ask, askStopped, type HttpAnswer, startTeam, type Team, type TestHall } from "./team.ts";

let cluster: Cluster;
let team: Team;

beforeAll(async () => {
  cluster = await startCluster();
  team = await startTeam(cluster, { count: 2 });
});
afterAll(async () => {
  await team?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
});

const noReads = '@id("no-reads") forbid (principal, action, resource == Tool::"work.read");';
const permits = (...tools: string[]): string =>
  tools.map((tool) => `permit (principal, action, resource == Tool::"work.${tool}");`).join("\n");

/** The user's policy file on the machine of one hall; undefined removes it. */
function write(hall: number, text: string | undefined): void {
  const folder = join(team.home, `home${hall}`, "config", "guildhall", "policies");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "team.cedar");
  if (text === undefined) rmSync(file, { force: true });
  else writeFileSync(file, text);
}

async function publish(hall: number, text: string): Promise<void> {
  write(hall, text);
  const { code, stderr } = await team.run(hall, "policy", "publish");
  expect([code, stderr]).toEqual([0, ""]);
  // Only what is published is left.
  write(hall, undefined);
}

async function withdraw(): Promise<void> {
  expect((await team.run(0, "policy", "publish", "--withdraw")).code).toBe(0);
}

const urlOf = (hall: number): string => team.halls[hall]?.url ?? "";
const read = (hall: number): Promise<HttpAnswer> =>
  ask(urlOf(hall), "tools/call", { name: "work__read", arguments: { id: "p" } });
/** "ran", or the reason of the refusal. */
async function outcome(hall: number): Promise<string> {
  const { body } = await read(hall);
  const text = JSON.stringify(body);
  return text.includes('\\"name\\":\\"read\\"') ? "ran" : text;
}
async function listed(hall: number): Promise<string> {
  return JSON.stringify((await ask(urlOf(hall), "tools/list")).body);
}

test("policies that are published on one machine are obeyed by every hall when the command has ended", async () => {
  expect([await outcome(0), await outcome(1)]).toEqual(["ran", "ran"]);
  await publish(0, noReads);
  for (const hall of [1, 0]) {
    expect(await outcome(hall)).toContain("no-reads");
    expect(await listed(hall)).not.toContain("work__read");
  }
  const { stdout } = await team.run(1, "policy", "list", "--json");
  expect(JSON.parse(stdout)).toMatchObject([{ name: "no-reads", effect: "forbid" }]);
  await withdraw();
  expect([await outcome(0), await outcome(1)]).toEqual(["ran", "ran"]);
  const audit = await team.run(0, "audit", "--export", "jsonl");
  expect(audit.stdout).toContain("published for all halls");
});

test("a permission that is taken back is gone in the next call of every hall", async () => {
  await publish(1, permits("read", "change"));
  expect([await outcome(0), await outcome(1)]).toEqual(["ran", "ran"]);
  await publish(1, permits("change"));
  for (const hall of [0, 1]) expect(await outcome(hall)).not.toBe("ran");
  await withdraw();
});

test("files of a machine can tighten the published policies, never loosen them", async () => {
  await publish(0, noReads);
  write(1, permits("read"));
  await until(async () => (await listed(1)).includes("work__change") === false, "the file counts");
  expect(await outcome(1)).toContain("no-reads");
  await withdraw();
  expect(await outcome(1)).toBe("ran");
  write(1, undefined);
  await until(async () => (await listed(1)).includes("work__change"), "the file is gone");
});

test("a hall that was stopped obeys the policies of that time in its next call", async () => {
  const stopped = team.halls[1] as TestHall;
  const publishing = () => publish(0, noReads);
  expect(await askStopped(stopped, publishing, () => outcome(1))).toContain("no-reads");
  await withdraw();
});

test("a hall that is cut off, and one that starts then, keep the last known policies", async () => {
  await publish(0, noReads);
  const { proxy } = team.halls[1] ?? {};
  if (!proxy) throw new Error("no hall");
  proxy.target = { host: "127.0.0.1", port: 1 };
  proxy.cut();
  expect(await outcome(1)).toContain("no-reads");
  await team.restart(1);
  expect(await outcome(1)).toContain("no-reads");
  proxy.target = cluster;
  await withdraw();
  await until(async () => (await outcome(1)) === "ran", "it heard that they were withdrawn");
});

test("a machine that never reached the database is not ready, and then obeys what was decided long before", async () => {
  const { stdout } = await team.run(0, "token", "create", "gone", "--json");
  const { token } = JSON.parse(stdout);
  const call = () =>
    ask(urlOf(1), "tools/call", { name: "work__read", arguments: { id: "p" } }, { token });
  const ready = async () => (await fetch(`${urlOf(1)}/ready`)).status;
  expect((await call()).status).toBe(200);
  const { process: ended, proxy } = team.halls[1] ?? {};
  if (!ended || !proxy) throw new Error("no hall");
  await ended[Symbol.asyncDispose]();
  expect((await team.run(0, "token", "revoke", "gone")).stderr).toBe("");
  // As an hour later: nothing is left of the revoked token, and the machine has never seen a policy.
  await cluster.query(`DELETE FROM ${team.schema}.board WHERE topic = 'tokens'`);
  rmSync(join(team.home, "home1", "data", "guildhall", "policies"), { recursive: true });
  proxy.target = { host: "127.0.0.1", port: 1 };
  await team.restart(1);
  expect(await ready()).toBe(503);
  const { body } = await read(1);
  expect(JSON.stringify(body)).toContain('"retryAfterSeconds":1');
  expect(JSON.stringify(body)).not.toContain("policy check");
  proxy.target = cluster;
  await until(async () => (await ready()) === 200, "it has reached the database");
  expect(await outcome(1)).toBe("ran");
  expect((await call()).status).toBe(401);
});

test("published policies that cannot be used deny everything in all halls", async () => {
  const settings = {
    folder: team.project,
    config: { store: { url: team.storeUrl, key: team.storeKey } },
    log: { warn() {}, info() {}, error() {} },
  } as unknown as Settings;
  const broken = { file: "broken.cedar", text: "permit (principal", isProject: false };
  await publishPolicies(settings, [broken]).catch(() => {});
  for (const hall of [0, 1]) expect(await outcome(hall)).toContain("cannot be read");
  await withdraw();
  expect([await outcome(0), await outcome(1)]).toEqual(["ran", "ran"]);
});
