import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { openLedger } from "../../src/trust/ledger.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import { registration } from "../servers/registry-document.ts";
import { until } from "../servers/until.ts";
import { type Built, buildStore } from "./built.ts";

/** Registrations across restarts of a hall. */
let built: Built;
const root = mkdtempSync(join(tmpdir(), "guildhall-kept-"));
beforeAll(async () => {
  built = await buildStore();
});
afterAll(() => {
  built.remove();
  rmSync(root, { recursive: true, force: true });
});

const params: JsonObject = { tool: { ...registration.params.tool, name: "kept_tool" } };

function start(project: string, user: string): Promise<TestHall> {
  const ledger = openLedger(join(root, project), { folder: join(root, user), warn: () => {} });
  return startHall({
    toolkits: [],
    trust: { ledger },
    store: { path: join(root, `${project}.db`), worker: built.worker },
  });
}

const names = ({ hall }: TestHall): readonly string[] =>
  hall.registry.tools().map(({ fullName }) => fullName);

test("a registration survives a restart, until it is removed", async () => {
  {
    await using first = await start("a", "me");
    await first.hall.registrations.register(params);
  }
  {
    await using second = await start("a", "me");
    await until(() => names(second).includes("kept_tool.web_search"), "the tool");
    await second.hall.registrations.unregister("kept_tool");
  }
  await using third = await start("a", "me");
  await third.hall.registrations.register({
    tool: { ...registration.params.tool, name: "other_tool" },
  });
  const kept = await third.hall.store.registrations.list();
  expect(kept.map(({ key }) => key).join()).not.toContain("kept_tool");
  expect(names(third)).toEqual(["other_tool.web_search"]);
});

test("registrations in a file from another user are ignored", async () => {
  {
    await using theirs = await start("b", "stranger");
    await theirs.hall.registrations.register(params);
  }
  await using ours = await start("b", "me");
  await until(
    () => ours.logged.some((line) => line.includes("it was not signed by this user")),
    "the warning",
  );
  expect(names(ours)).toEqual([]);
});
