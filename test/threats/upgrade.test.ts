// A data folder and a project of version 0.1: what it approved is neither lost nor more than it was.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { type Home, type Ran, runCommand } from "../servers/home.ts";
import { ciToken, docsPort, makeOldHome } from "../servers/old-home.ts";
import { spawnHall } from "../servers/process.ts";
import { watchProcess } from "../servers/serve-process.ts";
import { openTerminal } from "../servers/terminal.ts";
import { rehash, takeTriggers } from "../store/tampering.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const server = fileURLToPath(new URL("../servers/version-0.1/server.mjs", import.meta.url));
let docs: ReturnType<typeof watchProcess>;

beforeAll(async () => {
  docs = watchProcess([server, "docs", String(docsPort)]);
  await docs.firstLine;
});
afterAll(() => docs[Symbol.asyncDispose]());

const run = (home: Home, line: string): Promise<Ran> => home.run(cli, line.split(" "));

/** 0.1 always had the built-in tools, and showed agents once there were groups. */
function makeHomeAsBefore(): Home {
  const home = makeOldHome();
  const config = JSON.parse(home.read("./guildhall.json")) as JsonObject;
  home.write("./guildhall.json", { ...config, builtin: "all", expose: "agents" });
  return home;
}

function readAgents(home: Home): readonly string[] {
  const folder = home.locate("./.guildhall/agents");
  return readdirSync(folder).map((name) => `${name}: ${readFileSync(join(folder, name), "utf8")}`);
}

test("servers approved by 0.1 start unasked, and one screen reviews their definitions once more", async () => {
  using home = makeHomeAsBefore();
  const agents = readAgents(home);
  const held = "was reviewed by version 0.1, which did not show all of it";
  for (const line of ["call notes.list_notes", "call docs.search_docs", "call notes.delete_note"])
    expect(await run(home, line)).toMatchObject({
      code: 77,
      stderr: expect.stringContaining(held),
    });
  expect((await run(home, "diff")).stdout).toContain(`${held.slice(4)}: delete_note, list_notes`);
  const { GUILDHALL__DEFAULTS__SANDBOX: _off, ...env } = home.env;
  const status = await runCommand([cli, "status"], { cwd: home.project, env });
  expect(status.stdout.replace(/\s+/g, " ")).toMatch(
    /not in a sandbox: (notes, shelf|shelf, notes) \(approved before Guildhall had sandboxes\)/,
  );

  // Without a person the servers are refreshed, nothing is approved, and the groups keep their tools.
  expect(await run(home, "build --yes")).toMatchObject({ code: 77 });
  const started = home.read("~/servers/starts").trim().split("\n");
  expect(new Set(started)).toEqual(new Set(["notes", "shelf"]));
  expect(readAgents(home)).toEqual(agents);
  expect(await run(home, "call notes.list_notes")).toMatchObject({ code: 77 });

  const words = [process.execPath, cli, "verify"];
  await using verify = openTerminal(words, { folder: home.project, env: home.env });
  await verify.shows(/notes[\s\S]*with version 0\.1[\s\S]*shelf[\s\S]*docs[\s\S]*q: stop/);
  verify.type("v");
  await verify.shows(/Lists the notes\.[\s\S]*back to the list > /);
  verify.type("\r");
  // A definition of shelf has changed since, so a person has to tick it.
  await verify.shows(/\[x\] notes[\s\S]*\[ \] shelf[\s\S]*\[x\] docs[\s\S]*q: stop/);
  verify.type("\u001b[B ");
  await verify.shows(/\[x\] notes[\s\S]*\[x\] shelf[\s\S]*\[x\] docs[\s\S]*q: stop/);
  verify.type("\r");
  await verify.confirm();
  for (const question of ["Load them? [y/N] ", "May models read them? [y/N] "]) {
    await verify.shows(question);
    verify.type("y\r");
  }
  expect(await verify.ended).toBe(0);

  expect((await run(home, "call notes.list_notes")).stdout).toContain("ran list_notes");
  expect((await run(home, "call docs.search_docs")).stdout).toContain("ran search_docs");
  expect((await run(home, "call greeting.greet")).stdout).toContain("hello");
  expect((await run(home, "diff")).stdout).toContain("no known changes");
  await using hall = spawnHall([], {
    cwd: home.project,
    env: {
      HOME: home.path,
      XDG_DATA_HOME: home.locate("~/.local/share"),
      XDG_CONFIG_HOME: home.locate("~/.config"),
    },
  });
  await hall.greet();
  const { tools } = await hall.result("tools/list");
  expect(JSON.stringify(tools)).toContain('"documents_and_notes_agent"');
});

test("trust given by 0.1 covers the same tools, and a tool that 0.1 took for harmless asks", async () => {
  using home = makeOldHome();
  home.write("~/.config/guildhall/config.json", { trust: { unattended: true } });
  expect(await run(home, "verify --yes")).toMatchObject({ code: 0 });
  expect((await run(home, "call notes.delete_note")).stdout).toContain("ran delete_note");
  // 0.1 did not cover `_meta`, nor did it know a parameter with SQL.
  for (const name of ["shelf.remove_book", "shelf.look_up"])
    expect(await run(home, `call ${name}`)).toMatchObject({
      code: 77,
      stderr: expect.stringContaining(`${name} requires approval`),
    });
});

test("`audit verify` checks rows of 0.1 by its rule, seals them, and finds a later change in them", async () => {
  using home = makeHomeAsBefore();
  expect((await run(home, "audit verify")).stdout).toContain("7 rows verified");
  expect(await run(home, "call calculator.calculate expression=1+1")).toMatchObject({ code: 0 });
  expect((await run(home, "audit verify")).stdout).toContain("7 rows verified");

  const database = await openDatabase(home.locate("./.guildhall/state.db"));
  const triggers = takeTriggers(database);
  database.exec("UPDATE audit SET subject = 'harmless' WHERE seq = 5");
  rehash(database);
  database.exec(triggers);
  database.close();
  // As if nobody had noted how far it was written.
  for (const name of readdirSync(home.locate("~/.local/share/guildhall/store")))
    if (name.endsWith(".json")) home.write(`~/.local/share/guildhall/store/${name}`, "");
  expect(await run(home, "audit verify")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("was changed since it got a key"),
  });
});

test("tokens of 0.1 keep all rights, and `status` names them", async () => {
  using home = makeOldHome();
  expect((await run(home, "status")).stdout).toContain(
    "tokens that may do everything: ci, laptop; to limit one,",
  );
  await using hall = watchProcess([cli, "serve", "--port", "0"], {
    cwd: home.project,
    env: home.env,
  });
  const [address = ""] = /http:\/\/[\d.:]+/.exec(await hall.firstLine) ?? [];
  const ask = async (token?: string): Promise<number> => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return (await fetch(`${address}/metrics`, { headers })).status;
  };
  expect(await ask(ciToken)).toBe(200);
  expect(await ask(home.read("~/.local/share/guildhall/token").trim())).toBe(200);
  expect(await ask()).toBe(401);
});
