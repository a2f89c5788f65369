import { join } from "node:path";
import { expect, test } from "vitest";
import { openSecretStore } from "../../src/base/secret-store.ts";
import type { Settings } from "../../src/hall/settings.ts";
import { withOwn } from "../../src/hall/together/team.ts";
import { createTokenStore, type Logins } from "../../src/upstream/token-store.ts";
import { makeHome } from "../servers/home.ts";
import { builtCli } from "../servers/process.ts";
import { startCluster } from "../store/cluster.ts";

const url = "https://far.example/mcp";
const issuer = "https://id.example";
const key = "the-same-secret-on-every-machine";
const login = (token: string): Logins => ({
  issuer,
  accounts: {
    [issuer]: {
      client: { client_id: "hall" },
      tokens: { access_token: token, refresh_token: `${token}-again`, token_type: "Bearer" },
    },
  },
});

const noKeyring = {
  read: () => Promise.reject(new Error("none")),
  write: () => Promise.reject(new Error("none")),
  remove: () => Promise.reject(new Error("none")),
};

test("logins and people's secrets move with the records, encrypted, and are newer where they are", async () => {
  await using cluster = await startCluster();
  using home = makeHome({
    "./guildhall.json": { mcpServers: { far: { url, oauth: { perPerson: true } } } },
  });
  const data = join(home.path, ".local", "share", "guildhall");
  const folder = join(data, "tokens");
  await createTokenStore(url, { folder }).write(login("of-the-hall"));
  await createTokenStore(url, { folder, person: "anna" }).write(login("of-anna"));
  await createTokenStore("https://other.example", { folder }).write(login("of-another-project"));
  const secrets = openSecretStore(join(data, "secrets"), noKeyring);
  const { project } = home;
  await secrets.set({ name: "DESK_KEY", project, person: "anna" }, "secret-of-anna");
  await secrets.set({ name: "DESK_KEY", project: "/elsewhere", person: "ben" }, "secret-of-ben");
  await secrets.set({ name: "DESK_KEY", project }, "secret-of-the-hall");

  const database = cluster.url();
  const migrate = async () => {
    const args = ["migrate", "--to", database, "--json"];
    const { stdout, stderr } = await home.run(builtCli(), args, { GUILDHALL__STORE__KEY: key });
    return JSON.parse(stdout || stderr);
  };
  expect(await home.run(builtCli(), ["start", "--port", "0"])).toMatchObject({ code: 0 });
  await home.run(builtCli(), ["call", "time_tool.current_time"]);
  expect(await home.run(builtCli(), ["stop"])).toMatchObject({ code: 0 });
  expect(await migrate()).toMatchObject({ wasMoved: false, logins: 2, secrets: 1 });

  const settings = {
    folder: project,
    config: { store: { url: database, key } },
    log: { warn() {}, info() {} },
  } as unknown as Settings;
  await withOwn(settings, async (own) => {
    const storeOf = (person?: string) => createTokenStore(url, { person, shared: own?.logins });
    expect(await storeOf().read()).toMatchObject(login("of-the-hall"));
    expect(await storeOf("anna").read()).toMatchObject(login("of-anna"));
    // As a hall does that renews it.
    await storeOf("anna").write(login("of-anna-renewed"));
  });
  const schema = new URL(database).searchParams.get("schema") ?? "public";
  const [row] = await cluster.query(
    `SELECT count(*) AS rows, string_agg(key || body, ' ') AS text FROM ${schema}.board WHERE topic <> 'locks'`,
  );
  expect(Number(row?.rows)).toBe(3);
  for (const text of ["anna", "of-the-hall", "far.example"]) expect(row?.text).not.toContain(text);

  expect(await migrate()).toMatchObject({ wasMoved: true, logins: 0, secrets: 0 });
  await withOwn(settings, async (own) => {
    const store = createTokenStore(url, { person: "anna", shared: own?.logins });
    expect(await store.read()).toMatchObject(login("of-anna-renewed"));
    const shared = own?.secrets(openSecretStore(join(data, "nothing"), noKeyring));
    const kept = shared?.list() ?? [];
    expect(await shared?.read(kept)).toMatchObject([
      { name: "DESK_KEY", project, person: "anna", value: "secret-of-anna" },
    ]);
  });
});
