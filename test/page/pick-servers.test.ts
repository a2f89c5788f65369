import { expect, test } from "vitest";
import { pickServers } from "../../web/pick-servers.ts";

test("a short list of servers keeps their order and has those that need a person", () => {
  const down = { kind: "down", code: "UNAVAILABLE", reason: "gone", retryAt: 0 } as never;
  const servers = [
    { name: "a", state: "enabled", run: { kind: "stopped" } },
    { name: "b", state: "enabled", run: { kind: "stopped" } },
    { name: "c", state: "disabled", run: undefined },
    { name: "d", state: "unusable", run: undefined },
    { name: "e", state: "enabled", run: down },
  ] as const;
  const names = (most: number) => pickServers(servers, most).map(({ name }) => name);
  expect(names(2)).toEqual(["d", "e"]);
  expect(names(3)).toEqual(["a", "d", "e"]);
  expect(names(5)).toEqual(["a", "b", "c", "d", "e"]);
});
