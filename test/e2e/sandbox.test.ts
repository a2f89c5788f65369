import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findRuntime } from "../../src/upstream/sandbox/bubblewrap.ts";
import { type Home, makeHome, type Ran, runCommand } from "../servers/home.ts";
import { builtCli, watchProcess } from "../servers/serve-process.ts";
import { until } from "../servers/until.ts";

/** Servers in sandboxes as a user meets them. Where the machine permits none, the tests expect that to be said. */
const found = await findRuntime();
const reason = "reason" in found ? found.reason : undefined;
const hostile = fileURLToPath(new URL("../servers/hostile.mjs", import.meta.url));
const cli = builtCli();

interface Project extends Disposable {
  readonly home: Home;
  readonly env: Readonly<Record<string, string>>;
  run(...args: readonly string[]): Promise<Ran>;
}

/** A project with the hostile server, a home with keys, and the defaults of a new user. */
function makeProject(entry: object = {}, more: Readonly<Record<string, string>> = {}): Project {
  const home = makeHome({
    "~/.ssh/id_ed25519": "PRIVATE KEY",
    "~/.aws/credentials": "aws",
    "~/.npmrc": "token",
    "~/notes/list.txt": "buy milk",
    "./.env": "SECRET=1",
    "./package.json": "{}",
    "./open/guildhall.json": "{}",
    "./open/.git/hooks/pre-commit.sample": "",
    "./guildhall.json": {
      mcpServers: { hostile: { command: process.execPath, args: [hostile, "./open"], ...entry } },
    },
  });
  const { GUILDHALL__DEFAULTS__SANDBOX: _off, ...usual } = home.env;
  const env = { ...usual, HALL_ONLY: "a secret of the hall", ...more };
  return {
    home,
    env,
    run: (...args) => runCommand([cli, ...args], { cwd: home.project, env }),
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}

function commandLines(): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      } catch {
        return "";
      }
    });
}

test.concurrent("a server that tries more than forty ways out gets nothing, and the hall continues", async () => {
  using project = makeProject({ sandbox: { memoryMb: 1024 }, timeoutSeconds: 300 });
  const { home, env, run } = project;
  const built = await run("build", "--yes");
  // Without a runtime it is not started at all, because its entry asks for a sandbox.
  expect(built).toMatchObject({ code: reason === undefined ? 0 : 69 });
  if (reason !== undefined) {
    expect(`${built.stdout}${built.stderr}`).toContain(reason);
    return;
  }
  const others = join(home.path, ".local/share/guildhall/servers");
  const otherState = join(
    others,
    readdirSync(others).find((name) => name !== "hosts") ?? "",
    "other",
  );
  mkdirSync(otherState, { recursive: true });
  writeFileSync(join(otherState, "memory"), "of another");
  const service = createServer().listen(0, "127.0.0.1");
  await once(service, "listening");
  const abstract = `guildhall-test-${process.pid}`;
  const abstractSocket = spawn(
    "python3",
    [
      "-c",
      `import socket\ns = socket.socket(socket.AF_UNIX); s.bind("\\0${abstract}"); s.listen()\nprint("ready", flush=True)\ninput()`,
    ],
    { stdio: ["pipe", "pipe", "ignore"] },
  );
  await once(abstractSocket.stdout, "data");
  await using hall = watchProcess([cli, "serve", "--port", "0", "--json"], {
    cwd: home.project,
    env,
  });
  await hall.firstLine;
  const marker = 80_000 + (process.pid % 10_000);
  const runtime = join(home.path, "guildhall");
  const targets = {
    hallPid: hall.pid,
    project: home.project,
    realHome: home.path,
    writable: join(home.project, "open"),
    data: join(home.path, ".local/share/guildhall"),
    ledger: join(home.path, ".local/share/guildhall/trust"),
    socket: join(runtime, readdirSync(runtime).find((name) => name.endsWith(".sock")) ?? ""),
    otherState,
    port: (service.address() as { port: number }).port,
    abstract,
    marker,
  };
  const called = await run("call", "hostile.list_tricks", JSON.stringify(targets));
  const results: Record<string, string> = JSON.parse(called.stdout);

  const { "outlive its parent": _lived, ...denied } = results;
  // In its own home it may write what it likes: the user's is untouched.
  const {
    "write an autostart file": _a,
    "write a start-up file of the shell": _b,
    ...rest
  } = denied;
  expect(Object.keys(results).length).toBeGreaterThan(50);
  expect(Object.entries(rest).filter(([, result]) => !result.startsWith("denied"))).toEqual([]);
  expect(readdirSync(home.path)).not.toContain(".bashrc");
  expect(readdirSync(join(home.path, ".config"))).toEqual(["guildhall"]);
  expect(results["make a fork bomb"]).toContain("bounded after");
  expect(results["fill the disk"]).toContain("ENOSPC");

  // A failed call says what was denied, and so do status, logs and audit.
  const path = join(home.path, ".ssh/id_ed25519");
  const refused = await run("call", "hostile.get_file", JSON.stringify({ path }));
  expect(refused.stderr).toContain(
    'The sandbox of server "hostile" denied reading ~/.ssh/id_ed25519',
  );
  expect(refused.stderr).toContain("guildhall sandbox learn hostile");
  const [audit, logs, status] = await Promise.all([
    run("audit", "--outcome", "confined"),
    run("logs", "hostile"),
    run("status"),
  ]);
  expect(audit.stdout).toContain("id_ed25519");
  expect(logs.stdout).toContain("sandbox denied: read");
  expect(status.stdout).toContain("the sandbox of hostile denied 1 access");

  // What it left behind ends with it.
  expect(commandLines().some((line) => line.includes(`sleep ${marker}`))).toBe(true);
  await run("restart", "hostile");
  await until(() => !commandLines().some((line) => line.includes(`sleep ${marker}`)));
  expect((await run("call", "hostile.get_file", '{"path":"./package.json"}')).stdout).toBe("{}\n");
  service.close();
  abstractSocket.kill();
});

/** How bubblewrap ends where the kernel lets no ordinary user make namespaces. */
const forbidden = "bwrap: setting up uid map: Permission denied";

test.concurrent.each([
  ["missing", undefined, "bubblewrap (bwrap) is not installed"],
  ["not permitted", forbidden, `bubblewrap is not permitted (${forbidden})`],
])(
  "where bubblewrap is %s, servers run unconfined, and review and status say so once",
  async (_how, words, why) => {
    using project = makeProject({}, { PATH: "/nowhere" });
    const { home } = project;
    if (words !== undefined)
      chmodSync(home.write("~/programs/bwrap", `#!/bin/sh\necho '${words}' >&2\nexit 1\n`), 0o755);
    const PATH = home.locate("~/programs");
    const run = (...args: readonly string[]): Promise<Ran> =>
      runCommand([cli, ...args], { cwd: home.project, env: { ...project.env, PATH } });
    const { mcpServers } = JSON.parse(home.read("./guildhall.json"));
    const strict = { ...mcpServers.hostile, sandbox: "on" };
    home.write("./guildhall.json", { mcpServers: { ...mcpServers, strict } });

    const built = await run("build", "--yes");
    expect(`${built.stdout}${built.stderr}`).toContain(
      `it must run in a sandbox, and there is none: ${why}`,
    );
    const [listed, status, read] = await Promise.all([
      run("sandbox", "list"),
      run("status"),
      run("call", "hostile.get_file", '{"path":"./package.json"}'),
    ]);
    expect(listed.stdout).toContain(`not in a sandbox: ${why}`);
    expect(status.stdout.split(`(${why})`)).toHaveLength(2);
    expect(read.stdout).toBe("{}\n");
  },
);

test.concurrent("a review states the rights of a new server, and learning adds denied access once a person agrees", async () => {
  using project = makeProject({}, {});
  const { home, run } = project;
  await run("build", "--yes");
  const explained = JSON.parse((await run("sandbox", "explain", "hostile", "--json")).stdout);
  const file = join(home.path, "notes/list.txt");
  const key = join(home.path, ".ssh/id_ed25519");
  const read = (path: string): Promise<Ran> =>
    run("call", "hostile.get_file", JSON.stringify({ path }));
  if (reason !== undefined) {
    expect(explained).toMatchObject({ state: "unconfined", what: `not in a sandbox: ${reason}` });
    expect((await run("sandbox", "learn", "hostile")).stderr).toContain(reason);
    return;
  }
  const what = "in a sandbox: writes ./open; no network";
  expect(explained).toMatchObject({ state: "confined", what });
  // The failure of a fetch names no host, as a result and as an error of the protocol.
  const page = { url: "http://198.51.100.1/", throws: true };
  const { stderr } = await run("call", "hostile.get_page", JSON.stringify(page));
  expect(stderr).toContain("guildhall: fetch failed\n");
  expect(stderr).toContain('The sandbox of server "hostile" has no network.');
  expect(stderr).toContain("guildhall sandbox learn hostile");
  await read(key);
  const call = `hostile.get_file=${JSON.stringify({ path: file })}`;
  const learned = await run("sandbox", "learn", "hostile", "--call", call, "--yes", "--json");
  const { proposed, profile } = JSON.parse(learned.stdout);
  expect(proposed).toEqual([
    { kind: "read", what: key, isSecret: true },
    { kind: "read", what: file, isSecret: false },
  ]);
  expect(profile).toEqual(["reads ~/notes/list.txt", "writes ./open", "no network"]);
  expect(learned.stderr).toBe("");
  const now = JSON.parse((await run("sandbox", "explain", "hostile", "--json")).stdout);
  expect(now.denied).toEqual([{ kind: "read", what: key }]);
  expect((await read(file)).stdout).toBe("buy milk\n");
  expect((await read(key)).stdout).not.toContain("PRIVATE");
});
