// Halls that are stopped or cut off from the database while something is decided.
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../servers/until.ts";
import { type Cluster, startCluster } from "../store/cluster.ts";
import {
  ask,
  askStopped,
  call,
  decline,
  greeting,
  post,
  said,
  startTeam,
  type Team,
  type TestHall,
} from "./team.ts";

let cluster: Cluster;
let team: Team;

beforeAll(async () => {
  cluster = await startCluster();
  team = await startTeam(cluster);
});

afterAll(async () => {
  await team?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
});

test("a hall without its database refuses changes with a time to retry, and finds another behind the same address", async () => {
  expect((await team.run(0, "trust", "work.change")).stderr).toBe("");
  const { url = "", proxy } = team.halls[1] ?? {};
  if (!proxy) throw new Error("no hall");
  proxy.target = { host: "127.0.0.1", port: 1 };
  proxy.cut();
  const refused = await call(url, "change", "away");
  expect(refused.body.result).toMatchObject({ isError: true });
  expect(JSON.stringify(refused.body)).toContain('"retryAfterSeconds":1');
  expect(said(await call(url, "read", "away"))).toMatchObject({ id: "away" });
  proxy.target = cluster;
  await until(async () => "id" in said(await call(url, "change", "back")), "changes run again");
  expect(team.done()).not.toContain("change away");
  await team.run(0, "revoke", "work.change");
});

const stopped = (): TestHall => team.halls[2] as TestHall;

test("a hall that was stopped does not read a resource whose review was taken back meanwhile", async () => {
  const { url } = stopped();
  const read = () => ask(url, "resources/read", { uri: "work://notes" });
  expect(JSON.stringify((await read()).body)).toContain("our notes");
  const late = await askStopped(stopped(), () => team.run(0, "trust", "reset", "--yes"), read);
  expect(JSON.stringify(late.body)).not.toContain("our notes");
  expect((await team.run(0, "build", "--yes")).code).toBe(0);
  await until(async () => JSON.stringify((await read()).body).includes("our notes"), "reviewed");
});

test("a hall that was stopped obeys grants and revocations of that time in its next call", async () => {
  const { url } = stopped();
  const change = () => call(url, "change", "stopped");
  const granted = await askStopped(stopped(), () => team.run(0, "trust", "work.change"), change);
  expect(said(granted)).toMatchObject({ id: "stopped" });
  const asked = await askStopped(stopped(), () => team.run(0, "revoke", "work.change"), change);
  await decline(url, "stopped", asked);
  expect(team.done().filter((line) => line === "change stopped")).toHaveLength(1);
});

test("a hall that was stopped knows the tokens that were made and revoked meanwhile", async () => {
  const { url } = stopped();
  let token = "";
  const read = () =>
    ask(url, "tools/call", { name: "work__read", arguments: { id: "t" } }, { token });
  const made = await askStopped(
    stopped(),
    async () => {
      const { stdout } = await team.run(0, "token", "create", "brief", "--json");
      token = JSON.parse(stdout).token;
    },
    read,
  );
  expect(said(made)).toMatchObject({ id: "t" });
  const revoked = await askStopped(stopped(), () => team.run(0, "token", "revoke", "brief"), read);
  expect(revoked.status).toBe(401);
});

test("a hall that is cut off cannot vouch for a token that was revoked since", async () => {
  const [, cutOff, other] = team.halls;
  if (!cutOff || !other) throw new Error("no hall");
  const { stdout } = await team.run(0, "token", "create", "spent", "--json");
  const bearer = { authorization: `Bearer ${JSON.parse(stdout).token}` };
  const { headers } = await post(other.url, greeting, bearer);
  const session = { ...bearer, "mcp-session-id": String(headers["mcp-session-id"]) };
  await post(other.url, { jsonrpc: "2.0", method: "notifications/initialized" }, session);
  const list = () => post(cutOff.url, { jsonrpc: "2.0", id: 2, method: "tools/list" }, session);
  expect((await list()).status).toBe(200);
  const { proxy } = cutOff;
  proxy.target = { host: "127.0.0.1", port: 1 };
  proxy.cut();
  expect((await team.run(0, "token", "revoke", "spent")).stderr).toBe("");
  // It still accepts the token itself, and passes the request on.
  expect((await post(cutOff.url, greeting, bearer)).status).toBe(200);
  expect((await list()).status).toBe(401);
  proxy.target = cluster;
  await until(async () => (await post(cutOff.url, greeting, bearer)).status === 401, "it is back");
});
