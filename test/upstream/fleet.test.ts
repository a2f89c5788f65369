import { expect, test } from "vitest";
import { createLog } from "../../src/base/log.ts";
import type { Toolkit } from "../../src/tool.ts";
import { createFleet, type FleetChange } from "../../src/upstream/fleet.ts";
import { emptyLock } from "../../src/upstream/lock.ts";
import { defaultLimits } from "../../src/wire/channel.ts";
import { faulty } from "../servers/upstreams.ts";

/** A fleet in front of a registry that takes its time to let go of a server. */
function createBench() {
  const shown = new Map<string, Toolkit>();
  let letGo = (): void => {};
  const gone = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const fleet = createFleet({
    limits: defaultLimits,
    log: createLog({ level: "silent" }),
    lock: emptyLock,
    async add(toolkit) {
      if (shown.has(toolkit.id)) throw new Error(`${toolkit.id} is there already`);
      shown.set(toolkit.id, toolkit);
    },
    async remove(id) {
      shown.delete(id);
      await gone;
    },
  });
  return { fleet, shown, letGo };
}

/** The config with one server, `box`, under this prefix. */
function edit(prefix: string, change: "added" | "changed"): FleetChange {
  return {
    servers: { box: faulty("", { prefix }) },
    added: [],
    removed: [],
    changed: [],
    [change]: ["box"],
  };
}

test("two edits of one server, the second before the first is done, end as the second says", async () => {
  const { fleet, shown, letGo } = createBench();
  await fleet.apply(edit("one", "added"));
  const edits = [fleet.apply(edit("two", "changed")), fleet.apply(edit("three", "changed"))];
  letGo();
  await Promise.all(edits);
  expect(shown.get("box")?.prefix).toBe("three");
  expect(fleet.get("box")).toBe(shown.get("box"));
  await fleet.close();
});

test("an edit that comes while the fleet closes starts nothing", async () => {
  const { fleet, shown, letGo } = createBench();
  await fleet.apply(edit("one", "added"));
  const closed = fleet.close();
  const late = fleet.apply(edit("two", "changed"));
  letGo();
  await Promise.all([closed, late]);
  expect(fleet.all()).toEqual([]);
  expect(shown.size).toBe(0);
});
