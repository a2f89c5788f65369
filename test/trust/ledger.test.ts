import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type Entries,
  type Ledger,
  noEntries,
  openLedger,
  readAllLedgers,
} from "../../src/trust/ledger.ts";

/** What a person has said: signed, theirs alone, and nothing where it is not. */
let folder: string;
let warned: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-ledger-"));
  warned = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (project = "/a/project", where = folder): Ledger =>
  openLedger(project, { folder: where, warn: (message) => warned.push(message) });
const grant = (name: string): ((entries: Entries) => Entries) => {
  return (entries) => ({
    ...entries,
    grants: { ...entries.grants, [name]: { grantedAt: 1, pin: "p" } },
  });
};

describe("the ledger", () => {
  test("is empty at first, keeps its entries, and is readable by its user only", async () => {
    expect(await open().read()).toEqual(noEntries);
    await open().change(grant("box.echo"));
    expect(Object.keys((await open().read()).grants)).toEqual(["box.echo"]);
    expect(await open("/another/project").read()).toEqual(noEntries);
    for (const name of readdirSync(folder))
      expect(statSync(join(folder, name)).mode & 0o077, name).toBe(0);
    expect(warned).toEqual([]);
  });

  test.each<[string, (text: string) => string]>([
    ["one more grant", (text) => text.replace('"box.echo"', '"box.delete"')],
    [
      "another signature",
      (text) =>
        text.replace(/("signature": ")(.)/, (_all, key: string, first: string) =>
          first === "A" ? `${key}B` : `${key}A`,
        ),
    ],
    ["no signature", (text) => text.replace(/"signature"/, '"signed"')],
    ["another project", (text) => text.replace("/a/project", "/b/project")],
    ["half of it", (text) => text.slice(0, text.length / 2)],
    ["nothing", () => "{}"],
    ["a list", () => "[]"],
    ["what is no JSON", () => "trust me"],
  ])("counts as nothing with %s, and says so", async (_what, change) => {
    const ledger = open();
    await ledger.change(grant("box.echo"));
    writeFileSync(ledger.file, change(readFileSync(ledger.file, "utf8")));
    expect(await open().read()).toEqual(noEntries);
    expect(warned).toEqual([expect.stringContaining("all trust is ignored")]);
  });

  test("of another project or another user does not count under this name", async () => {
    const other = mkdtempSync(join(tmpdir(), "guildhall-ledger-"));
    const [mine, yours, theirs] = [open(), open("/b/project"), open("/a/project", other)];
    await Promise.all([yours.change(grant("box.echo")), theirs.change(grant("box.echo"))]);
    for (const { file } of [yours, theirs]) {
      cpSync(file, mine.file);
      expect(await mine.read()).toEqual(noEntries);
    }
    rmSync(join(folder, "key"));
    expect(await yours.read()).toEqual(noEntries);
    rmSync(other, { recursive: true });
  });

  test("loses nothing when many write at once, to one project and to several with no key yet", async () => {
    const names = Array.from({ length: 12 }, (_, n) => `box.tool_${n}`);
    await Promise.all(
      names.flatMap((name) =>
        ["/a", "/b", "/c"].map((project) => open(project).change(grant(name))),
      ),
    );
    for (const project of ["/a", "/b", "/c"])
      expect(Object.keys((await open(project).read()).grants).sort()).toEqual([...names].sort());
    expect(warned).toEqual([]);
    expect(readdirSync(folder)).toHaveLength(4);
  });

  test("keeps names that are none of its own", async () => {
    await open().change(grant("__proto__"));
    const { grants } = await open().read();
    expect(Object.hasOwn(grants, "__proto__")).toBe(true);
    expect(Object.hasOwn(grants, "constructor")).toBe(false);
    expect(({} as { pin?: string }).pin).toBeUndefined();
  });

  test("is found by its project among those of all projects, unless it was changed", async () => {
    await open("/a").change(grant("box.echo"));
    await open("/b").change(grant("box.wipe"));
    const { file } = open("/c");
    cpSync(open("/a").file, file);
    const grants = (): unknown =>
      Object.fromEntries(
        [...readAllLedgers(folder)].map(([project, { entries }]) => [
          project,
          Object.keys(entries.grants),
        ]),
      );
    expect(grants()).toEqual({ "/a": ["box.echo"], "/b": ["box.wipe"] });
    writeFileSync(open("/b").file, readFileSync(open("/b").file, "utf8").replace("wipe", "echo"));
    expect(grants()).toEqual({ "/a": ["box.echo"] });
    expect(readAllLedgers(join(folder, "none")).size).toBe(0);
  });
});
