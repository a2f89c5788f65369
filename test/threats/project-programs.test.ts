// Programs and scripts that lie in the project run only as a person approved them.
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, truncateSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { projectFiles } from "../../src/upstream/program.ts";
import { type Home, makeHome } from "../servers/home.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const server = fileURLToPath(new URL("../servers/faulty.mjs", import.meta.url));

/** A script that leaves its folder and arguments in a file. */
function trace(home: Home, name: string): string {
  const file = JSON.stringify(home.locate(`~/${name}`));
  return `#!/usr/bin/env node
require("node:fs").writeFileSync(${file}, JSON.stringify([process.cwd(), ...process.argv.slice(2)]));`;
}

test("a script of the project is shown, and not started once it was edited", async () => {
  const box = { command: "node", args: ["./server.mjs", "tools=echo"] };
  using home = makeHome({ "./guildhall.json": { mcpServers: { box } } });
  cpSync(server, home.locate("./server.mjs"));
  const { stdout } = await home.run(cli, ["verify", "--yes"]);
  expect(stdout).toMatch(
    /; the program is \/\S*node\S*; in this project: server\.mjs \(sha256 \w{12}\)/,
  );
  expect(await home.run(cli, ["call", "box.echo"])).toMatchObject({ code: 0 });

  home.write("./server.mjs", `${readFileSync(server, "utf8")}\n`);
  expect(await home.run(cli, ["call", "box.echo"])).toMatchObject({
    code: 77,
    stderr: expect.stringContaining(
      "another command, URL, script or sandbox than the one you approved",
    ),
  });
  expect((await home.run(cli, ["diff"])).stdout).toMatch(
    /- .*server\.mjs \(sha256 \w+\)\n.*\+ .*server\.mjs \(sha256 \w+\)/,
  );
});

test("the program is the one that the server's own PATH finds", async () => {
  using home = makeHome();
  home.write("~/bin/tool", trace(home, "ran"));
  execFileSync("chmod", ["+x", home.locate("~/bin/tool")]);
  const box = { command: "tool", env: { PATH: `${home.locate("~/bin")}:/usr/bin:/bin` } };
  home.write("./guildhall.json", { mcpServers: { box } });
  const shown = `the program is ${home.locate("~/bin/tool")}`;
  expect((await home.run(cli, ["verify", "--yes"])).stdout).toContain(shown);
  expect((await home.run(cli, ["doctor"])).stdout).toContain(
    `program: ${home.locate("~/bin/tool")}`,
  );
});

test.each([
  ["a module of Python", "python3", ["-m", "tools.server"], "./tools/server.py"],
  ["a package of Python", "python3", ["-m", "tools"], "./tools/__main__.py"],
  ["a script in a line for a shell", "sh", ["-c", "exec node 'server.mjs' x"], "./server.mjs"],
])("%s is approved with its contents", (_what, command, args, file) => {
  using home = makeHome({ [file]: "first" });
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(home.project);
  const files = projectFiles({ command, args, env: {}, cwd: home.project });
  cwd.mockRestore();
  expect(Object.keys(files)).toEqual([file.slice(2)]);
});

test("a huge script of the project is not loaded into memory, and leaves its server out", async () => {
  const box = { command: "node", args: ["./server.mjs"] };
  using home = makeHome({ "./guildhall.json": { mcpServers: { box } }, "./server.mjs": "" });
  truncateSync(home.locate("./server.mjs"), 1024 ** 3);
  for (const command of ["build --yes", "verify --yes", "doctor"]) {
    const { code, stdout, stderr } = await home.run(cli, command.split(" "));
    expect([command, code]).not.toEqual([command, 0]);
    expect(`${stdout}${stderr}`).toContain("has more than 256 MB");
  }
  expect(await home.run(cli, ["tools"])).toMatchObject({ code: 0 });
});
