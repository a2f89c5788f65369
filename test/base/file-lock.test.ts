import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { withFileLock } from "../../src/base/files.ts";
import { openNamedTokens } from "../../src/server/http/tokens.ts";

/** One process at a time, by a file that names its holder. */
const root = mkdtempSync(join(tmpdir(), "guildhall-lock-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(root, `folder-${++files}`, "work.lock");
const never = 60_000;

/** Holds a lock until it is told to let go. */
function hold(
  file: string,
  heldMsMax = never,
): { readonly held: Promise<void>; readonly done: Promise<void>; letGo(): void } {
  let letGo = (): void => {};
  let tell = (): void => {};
  const held = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const work = async (): Promise<void> => {
    tell();
    await released;
  };
  return { held, done: withFileLock(file, heldMsMax, work), letGo };
}

describe("a file lock", () => {
  test("lets one work at a time, and leaves nothing behind", async () => {
    const file = newFile();
    let working = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++working);
      await new Promise((resolve) => setImmediate(resolve));
      working--;
    };
    await Promise.all(Array.from({ length: 8 }, () => withFileLock(file, never, work)));
    expect(most).toBe(1);
    expect(readdirSync(join(file, ".."))).toEqual([]);
  });

  test("is given back when the work fails", async () => {
    const file = newFile();
    await expect(
      withFileLock(file, never, () => Promise.reject(new Error("no luck"))),
    ).rejects.toThrow("no luck");
    expect(await withFileLock(file, never, async () => "again")).toBe("again");
  });

  test("of a process that is gone is taken over at once", async () => {
    const file = newFile();
    await withFileLock(file, never, async () => {});
    // Above what any system gives out.
    writeFileSync(file, `${2 ** 30} somebody`);
    expect(await withFileLock(file, never, async () => "taken")).toBe("taken");
  });

  test("that was held for too long is taken over, and its first holder does not take it from the second", async () => {
    const file = newFile();
    const slow = hold(file);
    await slow.held;
    utimesSync(file, new Date(0), new Date(0));
    const second = hold(file);
    await second.held;
    slow.letGo();
    await slow.done;
    const third = hold(file);
    const order: string[] = [];
    void third.held.then(() => order.push("third"));
    // Each of these takes the steps that the third would take.
    for (let n = 0; n < 10; n++) await withFileLock(newFile(), never, async () => {});
    order.push("second");
    second.letGo();
    third.letGo();
    await Promise.all([second.done, third.done]);
    expect(order).toEqual(["second", "third"]);
  });

  test("that cannot be created fails", async () => {
    const file = join(root, "no-folder");
    writeFileSync(file, "");
    await expect(withFileLock(join(file, "work.lock"), never, async () => {})).rejects.toThrow(
      /ENOTDIR|EEXIST/,
    );
  });
});

test("tokens that are made and revoked at the same moment are all made, and stay revoked", async () => {
  const folder = join(root, "tokens");
  const tokens = openNamedTokens(folder);
  await tokens.create("old");
  await Promise.all([
    tokens.create("ada"),
    tokens.revoke("old"),
    openNamedTokens(folder).create("bob"),
  ]);
  expect(
    openNamedTokens(folder)
      .list()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["ada", "bob"]);
});
