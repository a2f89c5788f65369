import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Built, buildStore } from "./built.ts";
import { crash } from "./crashes.ts";

let built: Built;
const folder = mkdtempSync(join(tmpdir(), "guildhall-crash-"));

beforeAll(async () => {
  built = await buildStore({ writing: "test/store/writing.ts" });
});

afterAll(() => {
  built.remove();
  rmSync(folder, { recursive: true, force: true });
});

test("8 processes killed while writing lose no acknowledged row, the chain is intact, and their calls end as lost", async () => {
  const { kills, acknowledged, missing, broken, warnings, alive, running, lost } = await crash(
    built,
    join(folder, "state.db"),
    8,
    5,
  );
  expect([kills, missing, broken, warnings, alive]).toEqual([8, [], undefined, [], 0]);
  expect(acknowledged).toBeGreaterThanOrEqual(40);
  expect(running).toBe(0);
  expect(lost).toBeGreaterThan(0);
});
