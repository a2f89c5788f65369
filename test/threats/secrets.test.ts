// Stored secrets: who can read them, what happens to files that were tampered with, and where values never appear.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { openSecretStore, type SecretStore, systemKeyring } from "../../src/base/secret-store.ts";
import { noKeyring } from "../config/folder.ts";
import { type Home, makeHome } from "../servers/home.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const canary = "canary-0123456789-canary";

interface Kept {
  readonly store: SecretStore;
  readonly folder: string;
  /** The file of the secret TOKEN. */
  readonly file: string;
  problem(): Promise<unknown>;
}

async function keepToken(home: Home): Promise<Kept> {
  const folder = join(home.path, "secrets");
  const store = openSecretStore(folder, noKeyring);
  await store.set({ name: "TOKEN" }, canary);
  const [name = ""] = readdirSync(folder).filter((each) => each.endsWith(".sealed"));
  return {
    store,
    folder,
    file: join(folder, name),
    async problem() {
      const [read] = await store.read(store.list());
      return read && "problem" in read ? read.problem : read;
    },
  };
}

test("files of secrets are encrypted, and only their user can read them", async () => {
  using home = makeHome();
  const { folder } = await keepToken(home);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(folder)) {
    expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    expect(readFileSync(join(folder, name), "latin1")).not.toContain(canary);
  }
});

describe("a file of a secret is refused with the reason", () => {
  test("if it was changed, at any byte", async () => {
    using home = makeHome();
    const { file, problem } = await keepToken(home);
    const bytes = readFileSync(file);
    for (const at of [0, 1, 13, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(file, changed);
      expect(await problem()).toMatch(/cannot be decrypted: it or its key was changed/);
    }
    writeFileSync(file, bytes.subarray(0, 5));
    expect(await problem()).toMatch(/cannot be decrypted/);
  });

  test("if another secret's file was put in its place", async () => {
    using home = makeHome();
    const { store, folder, file } = await keepToken(home);
    await store.set({ name: "OTHER", project: "/clone" }, "the clone's own value");
    const [other = ""] = readdirSync(folder)
      .map((name) => join(folder, name))
      .filter((each) => each.endsWith(".sealed") && each !== file);
    copyFileSync(file, other);
    const read = await store.read(store.list().filter(({ name }) => name === "OTHER"));
    expect(read).toEqual([
      { name: "OTHER", project: "/clone", problem: expect.stringContaining("cannot be decrypted") },
    ]);
  });

  test("if its key was replaced or removed", async () => {
    using home = makeHome();
    const { folder, problem } = await keepToken(home);
    writeFileSync(join(folder, "key"), "k".repeat(32));
    expect(await problem()).toMatch(/cannot be decrypted/);
    rmSync(join(folder, "key"));
    expect(await problem()).toMatch(/cannot be decrypted/);
  });

  test.each(["file", "key", "index"] as const)("if others can read its %s", async (which) => {
    using home = makeHome();
    const { store, folder, file, problem } = await keepToken(home);
    const path = { file, key: join(folder, "key"), index: store.index }[which];
    chmodSync(path, 0o644);
    const reason = /must be a file, owned by you and not accessible to others/;
    if (which === "index") expect(() => store.list()).toThrow(reason);
    else expect(await problem()).toMatch(reason);
  });

  test.each(["link", "pipe", "folder"])("if a %s is in its place", async (kind) => {
    using home = makeHome();
    const { file, problem } = await keepToken(home);
    renameSync(file, `${file}.moved`);
    if (kind === "link") symlinkSync(`${file}.moved`, file);
    else if (kind === "folder") mkdirSync(file);
    else execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", file]);
    expect(await problem()).toMatch(kind === "link" ? /ELOOP/ : /must be a file, owned by you/);
  });

  test.skipIf(process.geteuid?.() !== 0)("if it is another user's", async () => {
    using home = makeHome();
    const { file, problem } = await keepToken(home);
    chownSync(file, 12_345, 12_345);
    expect(await problem()).toMatch(/must be a file, owned by you/);
  });
});

test("nothing is stored in a folder that others can use", async () => {
  using home = makeHome();
  const { folder, store } = await keepToken(home);
  chmodSync(folder, 0o755);
  await expect(store.set({ name: "NEW" }, canary)).rejects.toMatchObject({ code: "DENIED" });
});

test("a keyring that never answers gives up, and no process has the value among its arguments", async () => {
  using home = makeHome();
  const bus = join(home.path, "bus");
  const silent = createServer(() => {}).listen(bus);
  vi.stubEnv("DBUS_SESSION_BUS_ADDRESS", `unix:path=${bus}`);
  try {
    let isOver = false;
    const writing = systemKeyring.write("account", canary).finally(() => {
      isOver = true;
    });
    const failed = expect(writing).rejects.toThrow("the system keyring did not answer");
    let lines = "";
    while (!isOver) {
      const all = execFileSync("ps", ["-eo", "ppid,args"], { encoding: "utf8" }).split("\n");
      const ours = all.filter((line) => line.trimStart().startsWith(`${process.pid} `));
      lines += ours.join("\n");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await failed;
    expect(lines).toContain(`${process.execPath} -e`);
    expect(lines.includes(canary)).toBe(false);
  } finally {
    vi.unstubAllEnvs();
    silent.close();
  }
});

test("a value on the command line is refused, and is not repeated", async () => {
  using home = makeHome();
  const { code, stdout, stderr } = await home.run(cli, ["secret", "set", "TOKEN", canary]);
  expect(code).toBe(2);
  expect(stdout + stderr).not.toContain(canary);
  expect((await home.run(cli, ["secret", "list", "--json"])).stdout).toBe("[]\n");
});

test("add says that a key on the command line may be in the history", async () => {
  using home = makeHome();
  const entry = { command: "no-such-program", env: { API_KEY: `sk-${canary}` } };
  const note = "your shell's history may have it";
  const typed = await home.run(cli, ["add", "one", JSON.stringify(entry)]);
  expect(typed.stdout).toContain(note);
  expect(typed.stdout + typed.stderr).not.toContain(canary);
  const option = ["add", "two", "--env", `API_KEY=sk-2-${canary}`, "--", "no-such-program"];
  expect((await home.run(cli, option)).stdout).toContain(note);
  const open = await home.run(cli, ["add", "three", "--", "no-such-program"]);
  expect(open.stdout).not.toContain(note);
  const piped = await home.run(cli, ["add", "four"], {}, JSON.stringify(entry));
  expect(piped.stdout).toContain("stored as a secret");
  expect(piped.stdout).not.toContain(note);
});
