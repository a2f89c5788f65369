import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type OpenStoreOptions,
  openStore,
  type StoreSettings,
} from "../../src/store/open-store.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { type Built, buildStore } from "./built.ts";
import { describeStore } from "./contract.ts";
import { callRow } from "./rows.ts";

let built: Built;
const folders: string[] = [];

beforeAll(async () => {
  built = await buildStore();
});

afterAll(() => {
  built.remove();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describeStore("in a file", async () => open(newPath()));

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-store-"));
  folders.push(folder);
  return join(folder, ".guildhall", "state.db");
}

function open(
  path: string,
  options: Partial<StoreSettings & OpenStoreOptions> & { readonly logged?: string[] } = {},
): Store {
  const { logged = [], ...rest } = options;
  const note = (_: unknown, message: string): void => void logged.push(message);
  const log = { warn: note, error: note } as unknown as OpenStoreOptions["log"];
  const sealFolder = join(path, "..", "..", "seals");
  return openStore({ worker: built.worker, sealFolder, ...rest, path }, { log, ...rest });
}

test("no file is created before the first row", async () => {
  const path = newPath();
  await open(path).close();
  expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
});

test("rows are found by the next process, in a file only its owner can read", async () => {
  const path = newPath();
  const first = open(path);
  first.calls.add(callRow({ id: "call_1" }));
  await first.audit.append({ kind: "granted", subject: "a.b", caller: "test", reason: "because" });
  expect(["", "-wal", "-shm"].map((suffix) => statSync(path + suffix).mode & 0o777)).toEqual([
    0o600, 0o600, 0o600,
  ]);
  await first.close();
  expect(readdirSync(join(path, ".."))).toEqual([".gitignore", "state.db"]);
  const second = open(path);
  expect(await second.calls.list()).toMatchObject([{ id: "call_1" }]);
  expect(await second.audit.verify()).toMatchObject({ rows: 1 });
  await second.close();
});

test("a file of the first version is migrated and keeps its counts", async () => {
  const path = newPath();
  const first = open(path);
  first.calls.add(callRow({ id: "call_1", at: Date.now(), outcome: "error" }));
  await first.prune();
  await first.close();
  const database = await openDatabase(path);
  database.exec(
    "ALTER TABLE spans DROP COLUMN cancelled; DROP TABLE running; DROP INDEX calls_person; ALTER TABLE calls DROP COLUMN person; ALTER TABLE calls DROP COLUMN token; PRAGMA user_version = 1",
  );
  database.close();
  const second = open(path);
  second.calls.add(callRow({ id: "call_2", at: Date.now(), outcome: "failed", code: "CANCELLED" }));
  expect((await second.statistics()).total).toMatchObject({ calls: 2, errors: 1, cancelled: 1 });
  await second.close();
});
