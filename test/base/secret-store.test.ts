import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Keyring,
  openSecretStore,
  type SecretStore,
  systemKeyring,
} from "../../src/base/secret-store.ts";
import { noKeyring } from "../config/folder.ts";

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "guildhall-secrets-"));
  folder = join(root, "secrets");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

/** A keyring that works until it is locked. */
function memoryKeyring(): Keyring & { readonly kept: Map<string, string>; isLocked: boolean } {
  const kept = new Map<string, string>();
  const open = (): void => {
    if (keyring.isLocked) throw new Error("the system keyring did not answer");
  };
  const keyring = {
    kept,
    isLocked: false,
    async read(accounts: readonly string[]) {
      open();
      return accounts.map((account) => kept.get(account));
    },
    async write(account: string, value: string) {
      open();
      kept.set(account, value);
    },
    async remove(account: string) {
      open();
      kept.delete(account);
    },
  };
  return keyring;
}

const valuesOf = async (store: SecretStore): Promise<readonly unknown[]> =>
  (await store.read(store.list())).map((read) =>
    "value" in read ? [read.name, read.value] : [read.name, read.problem],
  );

function bytesIn(path: string): string {
  return readdirSync(path)
    .map((name) => readFileSync(join(path, name), "latin1"))
    .join("");
}

describe("without a keyring", () => {
  test("secrets are encrypted, and the names alone are in the index", async () => {
    const store = openSecretStore(folder, noKeyring);
    expect(store.list()).toEqual([]);
    expect(await store.set({ name: "TOKEN" }, "hunter2-hunter2")).toBe("file");
    expect(await store.set({ name: "TOKEN", project: "/srv/blog" }, "other-value")).toBe("file");
    expect(bytesIn(folder)).not.toMatch(/hunter2|other-value/);
    const again = openSecretStore(folder, noKeyring);
    expect(await valuesOf(again)).toEqual([
      ["TOKEN", "hunter2-hunter2"],
      ["TOKEN", "other-value"],
    ]);
    expect(again.list()).toMatchObject([
      { name: "TOKEN", kept: "file" },
      { name: "TOKEN", project: "/srv/blog", kept: "file" },
    ]);
  });

  test("a new value replaces the old one, and a removed secret leaves nothing", async () => {
    const store = openSecretStore(folder, noKeyring);
    await store.set({ name: "TOKEN" }, "first");
    const before = readFileSync(store.index, "utf8");
    await store.set({ name: "TOKEN" }, "second\nline");
    expect(readFileSync(store.index, "utf8")).not.toBe(before);
    expect(await valuesOf(store)).toEqual([["TOKEN", "second\nline"]]);
    expect(await store.remove({ name: "TOKEN", project: "/elsewhere" })).toBe(false);
    expect(await store.remove({ name: "TOKEN" })).toBe(true);
    expect(await store.remove({ name: "TOKEN" })).toBe(false);
    expect(readdirSync(folder).sort()).toEqual(["index.json", "key"]);
  });

  test("processes that store at the same time lose nothing", async () => {
    const names = Array.from({ length: 8 }, (_, at) => `NAME_${at}`);
    await Promise.all(
      names.map((name) => openSecretStore(folder, noKeyring).set({ name }, `value of ${name}`)),
    );
    const store = openSecretStore(folder, noKeyring);
    expect((await valuesOf(store)).toSorted()).toEqual(names.map((n) => [n, `value of ${n}`]));
  });
});

describe("with a keyring", () => {
  test("values are only there", async () => {
    const keyring = memoryKeyring();
    const store = openSecretStore(folder, keyring);
    expect(await store.set({ name: "TOKEN", project: "/srv/blog" }, "hunter2-hunter2")).toBe(
      "keyring",
    );
    expect(readdirSync(folder)).toEqual(["index.json"]);
    expect([...keyring.kept]).toEqual([["project /srv/blog TOKEN", "hunter2-hunter2"]]);
    expect(await valuesOf(store)).toEqual([["TOKEN", "hunter2-hunter2"]]);
    expect(await store.remove({ name: "TOKEN", project: "/srv/blog" })).toBe(true);
    expect(keyring.kept.size).toBe(0);
  });

  test("a keyring that refuses leaves the value to the file, one that works again takes it back", async () => {
    const keyring = memoryKeyring();
    const store = openSecretStore(folder, keyring);
    keyring.isLocked = true;
    expect(await store.set({ name: "TOKEN" }, "first")).toBe("file");
    keyring.isLocked = false;
    expect(await openSecretStore(folder, keyring).set({ name: "TOKEN" }, "second")).toBe("keyring");
    expect(readdirSync(folder).sort()).toEqual(["index.json", "key"]);
    expect(await valuesOf(store)).toEqual([["TOKEN", "second"]]);
  });

  test("a value that the keyring could not give up is removed with the secret", async () => {
    const keyring = memoryKeyring();
    await openSecretStore(folder, keyring).set({ name: "TOKEN" }, "first");
    const store = openSecretStore(folder, keyring);
    keyring.isLocked = true;
    expect(await store.set({ name: "TOKEN" }, "second")).toBe("file");
    expect(await store.set({ name: "TOKEN" }, "third")).toBe("file");
    await expect(store.remove({ name: "TOKEN" })).rejects.toThrow(
      "a value of TOKEN is still in the system keyring",
    );
    expect(await valuesOf(store)).toEqual([["TOKEN", "it was removed"]]);
    keyring.isLocked = false;
    expect(await store.remove({ name: "TOKEN" })).toBe(true);
    expect([...keyring.kept]).toEqual([]);
    expect(store.list()).toEqual([]);
  });

  test("a keyring that refuses only the new value gives up the old one", async () => {
    const keyring = memoryKeyring();
    await openSecretStore(folder, keyring).set({ name: "TOKEN" }, "first");
    const small = { ...keyring, write: noKeyring.write };
    expect(await openSecretStore(folder, small).set({ name: "TOKEN" }, "second")).toBe("file");
    expect(keyring.kept.size).toBe(0);
  });

  test("a keyring that cannot be reached is a problem of its own secrets only", async () => {
    const keyring = memoryKeyring();
    const store = openSecretStore(folder, keyring);
    await store.set({ name: "IN_KEYRING" }, "first");
    keyring.isLocked = true;
    await store.set({ name: "IN_FILE" }, "second");
    expect(await valuesOf(store)).toEqual([
      ["IN_KEYRING", "the system keyring did not answer"],
      ["IN_FILE", "second"],
    ]);
  });
});

test("a machine without a Secret Service falls through to the file", async () => {
  vi.stubEnv("DBUS_SESSION_BUS_ADDRESS", `unix:path=${join(root, "no-bus")}`);
  vi.stubEnv("XDG_RUNTIME_DIR", root);
  if (process.platform === "linux") {
    await expect(systemKeyring.read(["x"])).rejects.toThrow("did not answer");
    expect(await openSecretStore(folder).set({ name: "TOKEN" }, "hunter2")).toBe("file");
  }
});
