// Programs that fetch a package and run it take nothing from the project they serve.
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterEach, expect, test, vi } from "vitest";
import { discoverForReview } from "../../src/hall/discover.ts";
import { openReview, reviewDiscoveries, selectStartable } from "../../src/hall/review.ts";
import { loadSettings } from "../../src/hall/settings.ts";
import { type Home, makeHome } from "../servers/home.ts";
import { startPackageRegistry } from "../servers/package-registry.ts";
import { binOf } from "../servers/real.ts";
import { reviewWith } from "../servers/reviewing.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const faulty = fileURLToPath(new URL("../servers/faulty.mjs", import.meta.url));

function writeProgram(home: Home, name: string, text: string): void {
  chmodSync(home.write(name, text), 0o755);
}

/** A program that leaves a file. */
function trap(home: Home): string {
  return `#!/bin/sh\ntouch ${home.locate("~/trapped")}\nexit 1\n`;
}

/** The real server in one file. */
async function bundleFilesystemServer(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [binOf("@modelcontextprotocol/server-filesystem")],
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
  return outputFiles[0]?.text ?? "";
}

test("npx takes nothing from the project's node_modules, .npmrc or PATH, and the README's example lists the project", async () => {
  using home = makeHome();
  await using registry = await startPackageRegistry();
  const name = "@modelcontextprotocol/server-filesystem";
  registry.publish(name, "1.0.0", await bundleFilesystemServer(), "mcp-server-filesystem");
  home.write("~/.npmrc", `registry=${registry.origin}`);

  home.write("./.npmrc", "registry=http://127.0.0.1:9/\nscript-shell=./trap");
  const bin = { "mcp-server-filesystem": "trap" };
  home.write(`./node_modules/${name}/package.json`, { name, version: "1.0.0", bin });
  for (const file of [`${name}/trap`, ".bin/mcp-server-filesystem", ".bin/node", ".bin/npm"])
    writeProgram(home, `./node_modules/${file}`, trap(home));
  home.write("./guildhall.json", {
    mcpServers: { files: { command: "npx", args: ["-y", name, "."] } },
  });
  // As it is where `npx guildhall` or a script of the project starts the hall.
  const env = { PATH: `${home.locate("./node_modules/.bin")}:${home.env.PATH}` };
  expect(await home.run(cli, ["verify", "--yes"], env)).toMatchObject({ code: 0 });
  const listed = await home.run(cli, ["call", "files.list_directory", "path=."], env);
  expect(listed.stdout).toContain("[FILE] guildhall.json");
  expect(existsSync(home.locate("~/trapped"))).toBe(false);
});

/**
 * Stands in for pnpm or Bun: leaves its folder and arguments in a file and "installs" a server, unless the folder it is
 * started in has settings or packages of others.
 */
function standIn(home: Home, server: string): string {
  return `#!/bin/sh
printf '%s\\n' "$PWD" "$@" > ${home.locate("~/installed-with")}
[ -e .npmrc ] || [ -e bunfig.toml ] || [ -e pnpm-workspace.yaml ] || [ -e node_modules ] && touch ${home.locate("~/trapped")}
mkdir -p node_modules/.bin node_modules/some-server
echo '{"dependencies":{"some-server":"1"}}' > package.json
echo '{"name":"some-server","version":"1.0.0","bin":"main.mjs"}' > node_modules/some-server/package.json
printf '#!/bin/sh\\npwd > ${home.locate("~/ran-in")}\\nexec node ${server} "$@"\\n' > node_modules/.bin/some-server
chmod +x node_modules/.bin/some-server
`;
}

test.each([
  { command: "pnpm", args: ["dlx", "some-server", "tools=1"], manager: "pnpm" },
  { command: "pnpx", args: ["some-server", "tools=1"], manager: "pnpm" },
  { command: "bunx", args: ["some-server", "tools=1"], manager: "bun" },
  { command: "bun", args: ["x", "some-server", "tools=1"], manager: "bun" },
])("$command installs outside the project and runs in it", async ({ command, args, manager }) => {
  using home = makeHome();
  for (const file of [".npmrc", "bunfig.toml", "pnpm-workspace.yaml", "package.json"])
    home.write(`./${file}`, "");
  writeProgram(home, "./node_modules/.bin/some-server", trap(home));
  if (command !== manager) writeProgram(home, `~/bin/${command}`, trap(home));
  writeProgram(home, `~/bin/${manager}`, standIn(home, faulty));
  home.write("./guildhall.json", { mcpServers: { box: { command, args } } });

  const env = { PATH: `${home.locate("~/bin")}:${home.env.PATH}` };
  expect(await home.run(cli, ["verify", "--yes"], env)).toMatchObject({ code: 0 });
  const [folder, verb, ...rest] = home.read("~/installed-with").trim().split("\n");
  expect(folder).toContain(`${home.path}/.cache/guildhall/packages/`);
  expect([verb, rest.at(-1)]).toEqual(["add", "some-server"]);
  expect(home.read("~/ran-in").trim()).toBe(home.project);
  expect(existsSync(home.locate("~/trapped"))).toBe(false);
});

/** A server as the program of a package. */
const server = `#!/usr/bin/env node\n${readFileSync(faulty, "utf8")}`;

test("a package of an approved version with other contents is not run", async () => {
  using home = makeHome();
  await using registry = await startPackageRegistry();
  const before = registry.publish("some-server", "1.0.0", server);
  home.write("~/.npmrc", `registry=${registry.origin}`);
  const box = { command: "npx", args: ["-y", "some-server@1.0.0", "tools=1"] };
  home.write("./guildhall.json", { mcpServers: { box } });
  const { code, stdout } = await home.run(cli, ["verify", "--yes"]);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`some-server@1.0.0 ${before}`)]);
  expect(await home.run(cli, ["call", "box.echo"])).toMatchObject({ code: 0 });

  const now = registry.publish("some-server", "1.0.0", `${server}\n// Other contents.`);
  // Neither the hall nor npm has it in a cache any more.
  home.write("~/.npmrc", `registry=${registry.origin}\ncache=${home.locate("~/npm")}`);
  const env = { XDG_CACHE_HOME: home.locate("~/cache") };
  const reason = `would run some-server@1.0.0 with other contents than you approved (now ${now}, before ${before})`;
  for (const words of [
    ["call", "box.echo"],
    ["verify", "--yes"],
    ["call", "box.echo"],
  ])
    expect((await home.run(cli, words, env)).stderr).toContain(reason);
});

afterEach(() => {
  vi.unstubAllEnvs();
});

test("a review pins the package that it has seen to its version, and only if a person says so", async () => {
  using home = makeHome();
  await using registry = await startPackageRegistry();
  const integrity = registry.publish("some-server", "1.0.0", server);
  home.write("~/.npmrc", `registry=${registry.origin}`);
  const config = (name: string): string =>
    `{ "mcpServers": { /* mine */ "box": { "command": "npx", "args": ["-y", "${name}", "tools=1"] } } }`;
  home.write("./guildhall.json", config("some-server"));
  expect(await home.run(cli, ["verify", "--yes"])).toMatchObject({ code: 0 });
  expect(home.read("./guildhall.json")).toBe(config("some-server"));

  for (const name of ["XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"]) vi.stubEnv(name, "");
  for (const [name, value] of Object.entries(home.env)) vi.stubEnv(name, value);
  expect(await home.run(cli, ["trust", "reset", "--yes"])).toMatchObject({ code: 0 });
  const { reviewer, shown } = reviewWith("enter", "v", "", "p", "enter");
  const settings = await loadSettings({ folder: home.project }, "error");
  const session = await openReview(settings, reviewer);
  const names = await selectStartable(session, ["box"]);
  await reviewDiscoveries(session, await discoverForReview(session, { names }));
  expect(shown[2]).toContain(`some-server@1.0.0 ${integrity}; the command names no exact`);
  expect(shown[1]).toContain("p: pin the version");
  expect(shown[4]).toContain("pinned to some-server@1.0.0");
  expect(home.read("./guildhall.json")).toBe(config("some-server@1.0.0"));

  registry.publish("some-server", "2.0.0", trap(home));
  expect(await home.run(cli, ["call", "box.echo"])).toMatchObject({ code: 0 });
  expect(existsSync(home.locate("~/trapped"))).toBe(false);
});

test("an unreachable registry is named, and the review continues", async () => {
  using home = makeHome();
  home.write("~/.npmrc", "registry=http://127.0.0.1:9/\nfetch-retries=0");
  const box = { command: "npx", args: ["-y", "some-server"] };
  home.write("./guildhall.json", { mcpServers: { box } });
  const { stdout } = await home.run(cli, ["verify", "--yes"]);
  expect(stdout).toMatch(/it did not answer: npm could not install some-server: .*ECONNREFUSED/);
  expect(stdout).toContain("it did not answer");
});

test("a package that the registry does not have is named in one sentence", async () => {
  using home = makeHome();
  await using registry = await startPackageRegistry();
  home.write("~/.npmrc", `registry=${registry.origin}`);
  const box = { command: "npx", args: ["-y", "some-server"] };
  home.write("./guildhall.json", { mcpServers: { box } });
  const { stdout } = await home.run(cli, ["verify", "--yes"]);
  expect(stdout.replace(/\s+/g, " ")).toContain(
    "npm could not install some-server: the registry does not have it, or does not show it to you (404 Not Found - GET",
  );
  expect(stdout).not.toContain("E404");
});
