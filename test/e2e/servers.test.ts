import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { makeHome } from "../servers/home.ts";
import { spawnHall } from "../servers/process.ts";
import { until } from "../servers/until.ts";
import { faultyFile } from "../servers/upstreams.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

interface Listed {
  readonly name: string;
  readonly state: string;
  readonly tools?: readonly string[];
}

test("a server is added, disabled, enabled and removed; a running hall follows", async () => {
  using home = makeHome({ "./guildhall.json": '{\n  // ours\n  "mcpServers": {}\n}\n' });
  const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  const run = (...args: string[]): ReturnType<typeof home.run> => home.run(cli, args);
  const list = async (): Promise<readonly Listed[]> =>
    JSON.parse((await run("list", "--json")).stdout) as Listed[];

  const held = await run("add", "later", "--", process.execPath, faultyFile, "told");
  expect(held).toMatchObject({ code: 0, stdout: expect.stringContaining("added later") });
  expect(await list()).toMatchObject([{ name: "later", state: "held" }]);
  await run("remove", "later");

  const added = await run(
    ...["add", "notes", "--yes", "--json", "--env", `API_TOKEN=${secret}`],
    ...["--", process.execPath, faultyFile, "told"],
  );
  expect(added.code, added.stderr).toBe(0);
  expect(JSON.parse(added.stdout)).toMatchObject({
    added: { added: [{ name: "notes" }] },
    servers: [{ name: "notes", ok: true }],
    reviews: [{ name: "notes", approved: true }],
  });
  expect(added.stdout + added.stderr + home.read("./guildhall.json")).not.toContain(secret);
  expect(home.read("./guildhall.json")).toContain("// ours");

  await using hall = spawnHall(["--alone"], {
    cwd: home.project,
    env: {
      ...home.env,
      XDG_DATA_HOME: home.locate("~/.local/share"),
      XDG_CONFIG_HOME: home.locate("~/.config"),
    },
  });
  await hall.greet();
  const shows = async (): Promise<boolean> => {
    const { tools } = (await hall.result("tools/list", {})) as { tools: { name: string }[] };
    return tools.some(({ name }) => name.startsWith("notes__"));
  };
  await until(shows);

  const names = async (): Promise<string> => JSON.stringify(await hall.result("tools/list", {}));
  const call = (): Promise<unknown> =>
    hall.request("tools/call", { name: "notes__told", arguments: {} });
  expect(await run("tools", "disable", "notes.t*")).toMatchObject({ code: 0 });
  await until(async () => !(await names()).includes("notes__told"));
  expect(JSON.stringify(await call())).toContain("guildhall tools enable notes.told");
  expect((await run("call", "notes.told")).stderr).toContain("guildhall tools enable notes.told");
  expect(await list()).toMatchObject([{ name: "notes", tools: ["echo"] }]);
  expect(await run("tools", "enable", "notes.told")).toMatchObject({ code: 0 });
  await until(async () => (await names()).includes("notes__told"));
  expect(JSON.stringify(await call())).toContain("no such issue");

  const search = await run("expose", "search", "--json");
  expect(JSON.parse(search.stdout)).toMatchObject({
    expose: "search",
    tools: ["call_tool", "evaluate-lisp", "find_tools"],
    changed: true,
  });
  await until(async () => !(await names()).includes("notes__told"));
  const usual = JSON.parse((await run("expose", "default", "--json")).stdout);
  await until(async () => (await names()).includes("notes__told"));
  expect(usual.tools).toContain("notes__told");
  expect(usual.bytes).toBeGreaterThan(usual.tokens);
  expect(home.read("./guildhall.json")).not.toContain("expose");

  await run("disable", "notes");
  await until(async () => !(await shows()));
  expect(await list()).toMatchObject([{ name: "notes", state: "disabled" }]);
  await run("enable", "notes");
  await until(shows);
  await run("remove", "notes");
  await until(async () => !(await shows()));
  expect(home.read("./guildhall.json")).toContain("// ours");
});
