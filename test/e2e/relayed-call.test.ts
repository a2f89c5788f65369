import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { makeHome } from "../servers/home.ts";
import { builtCli, spawnHall } from "../servers/process.ts";
import { until } from "../servers/until.ts";

const fileOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const calls = 100;
/** One of them is for all calls of a read; here each call is a read of its own. */
const promisesMax = 7;

test("a relayed call makes no more promises than it did when this was measured", async () => {
  const args = [fileOf("bench/servers/upstream-echo.mjs")];
  const mcpServers = { upstream: { command: process.execPath, args } };
  using home = makeHome({ "./guildhall.json": { expose: "tools", mcpServers } });
  expect(await home.run(builtCli(), ["build", "--yes"])).toMatchObject({ code: 0 });
  const file = home.locate("~/promises");
  writeFileSync(file, "");

  await using hall = spawnHall(["--alone"], {
    cwd: home.project,
    env: {
      ...home.env,
      XDG_DATA_HOME: home.locate("~/.local/share"),
      XDG_CONFIG_HOME: home.locate("~/.config"),
      NODE_OPTIONS: `--import=${fileOf("bench/servers/count-work.mjs")}`,
      COUNT: "promises",
      COUNT_FILE: file,
    },
  });
  const counts = (): number[] => readFileSync(file, "utf8").split("\n").slice(0, -1).map(Number);
  const count = async (): Promise<number> => {
    const known = counts().length;
    hall.kill("SIGUSR2");
    await until(() => counts().length > known);
    return counts().at(-1) ?? 0;
  };
  const callAll = async (): Promise<void> => {
    for (let number = 0; number < calls; number++) {
      const call = { name: "upstream__echo", arguments: { message: `call ${number}` } };
      const { content } = await hall.result("tools/call", call);
      expect(content).toEqual([{ type: "text", text: `call ${number}` }]);
    }
  };
  await hall.greet();
  await callAll();

  const before = await count();
  await callAll();
  const made = ((await count()) - before) / calls;

  expect(Math.round(made)).toBeLessThanOrEqual(promisesMax);
  // A hook that counts nothing would pass.
  expect(made).toBeGreaterThan(1);
});
