// Another user's data folder, as with `sudo -E`, or one that others can change, brings no trust.
import { chmodSync, chownSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Ledger, openLedger } from "../../src/trust/ledger.ts";
import { makeHome } from "../servers/home.ts";

async function openTrusted(folder: string): Promise<{ ledger: Ledger; warnings: string[] }> {
  const warnings: string[] = [];
  const ledger = openLedger("/project", { folder, warn: (message) => warnings.push(message) });
  await ledger.change((entries) => ({
    ...entries,
    grants: { "box.open": { grantedAt: 1, pin: "p" } },
  }));
  expect((await ledger.read()).grants).toHaveProperty(["box.open"]);
  return { ledger, warnings };
}

describe.each(["ledger", "key"])("a %s", (which) => {
  const fileOf = ({ file }: Ledger): string =>
    which === "key" ? join(dirname(file), "key") : file;

  test.skipIf(process.geteuid?.() !== 0)("of another user counts as nothing", async () => {
    using home = makeHome();
    const { ledger, warnings } = await openTrusted(home.path);
    chownSync(fileOf(ledger), 12_345, 12_345);
    expect((await ledger.read()).grants).toEqual({});
    expect(warnings).toEqual([expect.stringContaining("all trust is ignored")]);
  });

  test("that others can use counts as nothing", async () => {
    using home = makeHome();
    const { ledger, warnings } = await openTrusted(home.path);
    chmodSync(fileOf(ledger), 0o666);
    expect((await ledger.read()).grants).toEqual({});
    expect(warnings).toEqual([expect.stringContaining("all trust is ignored")]);
  });
});

test("a key that others can use signs nothing", async () => {
  using home = makeHome();
  const { ledger } = await openTrusted(home.path);
  chmodSync(join(home.path, "key"), 0o644);
  await expect(ledger.change((entries) => entries)).rejects.toMatchObject({ code: "DENIED" });
  rmSync(join(home.path, "key"));
  await ledger.change((entries) => entries);
});
