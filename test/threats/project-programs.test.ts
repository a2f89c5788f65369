// Programs and scripts that lie in the project run only as a person approved them.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
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
    stderr: expect.stringContaining("another command, URL or script than the one you approved"),
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

test("npx takes nothing from the project's node_modules or .npmrc, and runs in the server's folder", async () => {
  using home = makeHome();
  const manifest = { name: "some-server", version: "1.0.0", bin: { "some-server": "main.js" } };
  home.write("~/registry/package/package.json", manifest);
  home.write("~/registry/package/main.js", trace(home, "published-ran"));
  execFileSync("tar", ["-czf", "package.tgz", "package"], { cwd: home.locate("~/registry") });
  const registry = createServer(({ url = "" }, response) => {
    if (url.endsWith(".tgz")) {
      response.end(readFileSync(home.locate("~/registry/package.tgz")));
      return;
    }
    const dist = { tarball: `${origin}/package.tgz` };
    const versions = { "1.0.0": { ...manifest, dist } };
    const document = { name: manifest.name, "dist-tags": { latest: "1.0.0" }, versions };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(document));
  });
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
  home.write("~/.npmrc", `registry=${origin}`);

  home.write("./.npmrc", "registry=http://127.0.0.1:9/");
  home.write("./node_modules/some-server/package.json", manifest);
  home.write("./node_modules/some-server/main.js", trace(home, "committed-ran"));
  home.write("./node_modules/.bin/some-server", trace(home, "committed-ran"));
  execFileSync("chmod", ["+x", home.locate("./node_modules/.bin/some-server")]);
  const files = { command: "npx", args: ["-y", "some-server", "."] };
  home.write("./guildhall.json", { mcpServers: { files } });
  await home.run(cli, ["verify", "--yes"]);
  registry.close();
  expect(existsSync(home.locate("~/committed-ran"))).toBe(false);
  expect(JSON.parse(home.read("~/published-ran"))).toEqual([home.project, "."]);
});
