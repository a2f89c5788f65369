// A review shows what will run and what it gets, as the config says it, and no value of a variable.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { hashOf } from "../../src/base/json.ts";
import { loadConfig } from "../../src/config/load.ts";
import { makeHome } from "../servers/home.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const secrets = { GITHUB_TOKEN: "ghp_canary0123456789", URLKEY: "url_canary0123456789" };

test("doctor and build print no secret, not even where a server does", async () => {
  const script = "console.error(...process.argv, process.env.KEY); process.exit(1)";
  const leaks = {
    command: process.execPath,
    args: ["-e", script, "--", "--token", `\${GITHUB_TOKEN}`],
    env: { KEY: `\${URLKEY}` },
  };
  using home = makeHome({ "./guildhall.json": { mcpServers: { leaks } } });
  for (const line of ["build --yes", "doctor", "doctor --json", "build --yes --json"]) {
    const { stdout, stderr } = await home.run(cli, line.split(" "), secrets);
    expect(stdout + stderr).not.toMatch(/canary/);
    if (line === "doctor") expect(stdout).toMatch(/--token '\$\{GITHUB_TOKEN\}'[\s\S]*\*\*\*/);
  }
});

test("list never shows a secret", async () => {
  const servers = {
    words: { command: "box", args: ["--api-key", "canary1", "--password=canary2", "--port", "1"] },
    named: { command: "box", args: ["--token", `\${SHORT}`, "sk-canary0123456789"] },
    remote: { url: `https://me:canary3@127.0.0.1:9/mcp?api_key=canary4&mode=\${MODE}#x` },
    proxy: { command: "npx", args: ["-y", "mcp-remote", "https://127.0.0.1:9/?key=canary5"] },
  };
  for (const place of ["./guildhall.json", "~/.config/guildhall/config.json"]) {
    using home = makeHome({ [place]: { mcpServers: servers } });
    const env = { SHORT: "cana", MODE: "canary6" };
    const { stdout } = await home.run(cli, ["list", "--json"], env);
    const targets = (JSON.parse(stdout) as { name: string; target: string }[]).map(
      ({ target }) => target,
    );
    expect(targets).toEqual([
      `box --token \${SHORT} ***`,
      "npx -y mcp-remote https://127.0.0.1:9/?key=***",
      `https://me:***@127.0.0.1:9/mcp?api_key=***&mode=\${MODE}#x`,
      "box --api-key *** --password=*** --port 1",
    ]);
    expect((await home.run(cli, ["list"], env)).stdout).not.toContain("cana");
  }
});

test("the review names the variables in arguments and addresses, and the lock holds none of their values", async () => {
  const faulty = fileURLToPath(new URL("../servers/faulty.mjs", import.meta.url));
  const args = [faulty, "tools=echo", "--token", `\${GITHUB_TOKEN}`];
  const program = { command: process.execPath, args };
  const remote = { url: `http://127.0.0.1:9/mcp?key=\${URLKEY}` };
  using home = makeHome({ "./guildhall.json": { mcpServers: { program, remote } } });
  const { stdout } = await home.run(cli, ["verify", "--yes"], secrets);
  expect(stdout).toContain(`tools=echo --token \${GITHUB_TOKEN}`);
  expect(stdout).toContain(`http://127.0.0.1:9/mcp?key=\${URLKEY} over http`);
  expect(stdout).not.toMatch(/canary/);

  const { servers } = JSON.parse(home.read("./.guildhall/tools.lock.json"));
  const guess = args.map((word) => word.replace(/^\$.*/, secrets.GITHUB_TOKEN));
  expect(servers.program.source).toBe(hashOf([process.execPath, args, [], null]));
  expect(servers.program.source).not.toBe(hashOf([process.execPath, guess, [], null]));
  // Another value is no change; another variable is.
  const same = await home.run(cli, ["diff"], { ...secrets, GITHUB_TOKEN: "ghp_other" });
  expect(same.stdout).toContain("no known changes");
  const other = { ...program, args: args.map((word) => word.replace("GITHUB_TOKEN", "URLKEY")) };
  home.write("./guildhall.json", { mcpServers: { program: other, remote } });
  expect((await home.run(cli, ["diff"], secrets)).stdout).toMatch(
    /- .*GITHUB_TOKEN\}[\s\S]*\+ .*URLKEY\}/,
  );
});

test("the review shows literal values of variables and headers", async () => {
  const program = { command: "no-such-program", env: { DOCS_TOKEN: "literal", MODE: "a b" } };
  const remote = { url: "http://127.0.0.1:9/mcp", headers: { "X-Auth": `a-\${URLKEY}` } };
  using home = makeHome({ "./guildhall.json": { mcpServers: { program, remote } } });
  const { stdout } = await home.run(cli, ["verify", "--yes"], secrets);
  expect(stdout).toContain('no-such-program with DOCS_TOKEN=literal, MODE="a b"');
  expect(stdout).toContain(`over http with headers X-Auth=a-\${URLKEY}`);
});

test("a value that the user wrote into their own config is not shown", async () => {
  const env = { DOCS_TOKEN: "canary-literal", MODE: "canary-mode", KEY: `\${URLKEY}` };
  const program = { command: "no-such-program", env };
  using home = makeHome({ "~/.config/guildhall/config.json": { mcpServers: { program } } });
  const { stdout, stderr } = await home.run(cli, ["verify", "--yes"], secrets);
  expect(stdout).toContain(`no-such-program with DOCS_TOKEN=***, KEY=\${URLKEY}, MODE=***`);
  expect(stdout + stderr).not.toMatch(/canary/);
});

/** Names that choose code, registries, hosts or whom to believe. */
const steering =
  `npm_config_registry npm_config_node_options npm_config_script_shell npm_config_userconfig npm_config_globalconfig npm_config_prefix
  NODE_PATH BUN_OPTIONS UV_INDEX_URL UV_PYTHON PIP_INDEX_URL HOME XDG_CONFIG_HOME TMPDIR NODE_COMPILE_CACHE NODE_EXTRA_CA_CERTS
  NODE_TLS_REJECT_UNAUTHORIZED https_proxy DOCKER_HOST KUBECONFIG GIT_ASKPASS SSH_ASKPASS RUSTC_WRAPPER
  AWS_SHARED_CREDENTIALS_FILE`.split(/\s+/);

test("a project's file cannot choose programs, packages or hosts by variables", async () => {
  using home = makeHome();
  const load = async (file: string, env: object): Promise<readonly string[]> => {
    const servers = Object.entries(env).map(([name, value]) => [
      `s-${name}`,
      { command: "npx", env: { [name]: value } },
    ]);
    const path = home.write(file, { mcpServers: Object.fromEntries(servers) });
    const userFile = file.startsWith("~") ? path : home.locate("~/none.json");
    const { unusable } = await loadConfig({ folder: home.project, userFile, env: given });
    rmSync(path);
    return Object.keys(unusable).map((name) => name.replace("s-", ""));
  };
  const given = Object.fromEntries([...steering, "PATH"].map((name) => [name, "/the/users/own"]));
  const set = Object.fromEntries(steering.map((name) => [name, "/evil"]));
  const passed = Object.fromEntries(steering.map((name) => [name, `\${${name}}`]));
  expect(await load("./guildhall.json", set)).toEqual(steering);
  expect(await load("./guildhall.json", passed)).toEqual([]);
  expect(await load("~/config.json", set)).toEqual([]);

  for (const path of ["bin:/usr/bin", `${home.project}/bin`, ":/usr/bin", `./x/..:\${PATH}`])
    expect(await load("./guildhall.json", { PATH: path })).toEqual(["PATH"]);
  for (const path of ["/usr/bin", `/opt/bin:\${PATH}`])
    expect(await load("./guildhall.json", { PATH: path })).toEqual([]);
});
