import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildStore } from "../store/built.ts";
import { crash } from "../store/crashes.ts";

test("100 processes killed while they write lose nothing that was acknowledged, and the chain holds", async () => {
  const built = await buildStore({ writing: "test/store/writing.ts" });
  const folder = mkdtempSync(join(tmpdir(), "guildhall-crash-"));
  try {
    const { kills, acknowledged, missing, broken, warnings, alive } = await crash(
      built,
      join(folder, "state.db"),
      100,
    );
    expect([kills, missing, broken, warnings, alive]).toEqual([100, [], undefined, [], 0]);
    expect(acknowledged).toBeGreaterThan(500);
  } finally {
    built.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);
