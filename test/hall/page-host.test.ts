import { userInfo } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PageEvent, PageMethods } from "../../src/hall/page/contract.ts";
import { createPageHost } from "../../src/hall/page/host.ts";
import type { Settings } from "../../src/hall/settings.ts";
import type { PageCaller } from "../../src/server/http/page-sessions.ts";
import { allRights } from "../../src/server/rights.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import { createEchoToolkit, createLibraryToolkit } from "../servers/toolkits.ts";
import { callRow } from "../store/rows.ts";

const user: PageCaller = { principal: "user", rights: allRights, session: "s1" };
const reader: PageCaller = { principal: "reader", rights: { scopes: ["read"] }, session: "s2" };

let site: TestHall;
let page: ReturnType<typeof createPageHost>;

beforeAll(async () => {
  site = await startHall({ toolkits: [createLibraryToolkit(), createEchoToolkit()] });
  page = createPageHost({ hall: site.hall, followTrust: async () => {} }, {
    folder: "/p",
  } as Settings);
});
afterAll(async () => {
  page.close();
  await site[Symbol.asyncDispose]();
});

const ask = async <M extends keyof PageMethods>(
  method: M,
  params: PageMethods[M]["params"],
  caller = user,
) => (await page.ask(method, { ...params }, caller)) as PageMethods[M]["result"];

/** Follows after an event until it heard this many; the ids and the events. */
async function hear(after: string | undefined, count: number, caller = user) {
  const heard: { readonly id: string; readonly event: PageEvent }[] = [];
  await new Promise<void>((resolve) => {
    let stop = (): void => {};
    stop = page.follow(after, caller, ({ id = "", data }) => {
      heard.push({ id, event: JSON.parse(data) as PageEvent });
      if (heard.length < count) return;
      // `follow` sends the kept events before it returns.
      queueMicrotask(() => stop());
      resolve();
    });
  });
  return heard;
}

test("a first screen gets the session and its answers at once, and only what its token may read", async () => {
  const reads = { traffic: {}, approvals: {}, tools: {}, call: {} };
  const mine = await ask("start", { reads });
  expect(mine.session.principal).toBe("user");
  expect(mine.answers.traffic?.minutes).toHaveLength(60);
  expect(mine.answers.approvals?.pending).toEqual([]);
  // A method that does not exist is left out.
  expect(JSON.parse(JSON.stringify(mine.answers))).not.toHaveProperty("call");

  const theirs = await ask("start", { reads }, reader);
  expect(theirs.answers.traffic?.minutes).toHaveLength(60);
  expect(JSON.parse(JSON.stringify(theirs.answers))).not.toHaveProperty("approvals");
});

test("calls are read in parts, each before the last, without gaps or repetitions", async () => {
  const ids = Array.from({ length: 250 }, (_, at) => `call-${at}`);
  for (const id of ids) site.hall.store.calls.add(callRow({ id, arguments: "{}" }));
  const parts: string[][] = [];
  let before: number | undefined;
  do {
    const answer = await ask("calls", { limit: 100, ...(before ? { before } : {}) });
    parts.push(answer.calls.map(({ id }) => id));
    before = answer.before;
  } while (before !== undefined);
  expect(parts.flat()).toEqual([...ids].reverse());
  expect(parts.map(({ length }) => length)).toEqual([100, 100, 50, 0]);
});

test("a stream continues after the last event that the page has, or tells it to read everything again", async () => {
  const { events } = site.hall;
  const { lastEvent } = await ask("session", {});
  events.emit({ type: "changed", what: "servers" });
  const [first] = await hear(lastEvent, 1);
  expect(first?.event).toEqual({ type: "changed", what: "servers" });

  events.emit({ type: "changed", what: "approvals" });
  events.emit({ type: "log", server: "library", at: 1, text: "hello" });
  // After the first event, only those that came later; logs are for administrators.
  const later = await hear(first?.id, 2);
  expect(later.map(({ event }) => event.type).sort()).toEqual(["changed", "logs"]);
  const [theirs] = await hear(first?.id, 1, reader);
  expect(theirs?.event).toEqual({ type: "changed", what: "approvals" });

  // An id of another run of the hall, or none.
  for (const after of ["000000000000.1", "nonsense", undefined]) {
    const [told] = await hear(after, 1);
    expect(told?.event.type).toBe("reset");
    expect(told?.id).toBe((await ask("session", {})).lastEvent);
  }
});

test("a call shows the access its server's sandbox denied meanwhile", async () => {
  const { store, violations } = site.hall;
  const at = Date.now();
  store.calls.add(callRow({ id: "confined", toolkit: "files", tool: "files.read", at, ms: 50 }));
  store.calls.add(callRow({ id: "other", toolkit: "shop", tool: "shop.look", at, ms: 50 }));
  violations.add("files", { kind: "read", what: "/etc/shadow" });
  await expect
    .poll(async () => (await ask("callTree", { root: "confined", at })).denials)
    .toMatchObject([{ server: "files", reason: "sandbox denied: read /etc/shadow" }]);
  expect((await ask("callTree", { root: "other", at })).denials).toEqual([]);
});

test("the audit names the person who answered in the page, not the hall's token", async () => {
  const { approvals, registry, store } = site.hall;
  const answer = async (principal: string): Promise<void> => {
    const { pending } = approvals.ask({
      target: registry.getTool("echo.echo"),
      argumentsHash: principal,
      caller: "a client",
      client: "a client",
      preview: "",
      callerPreview: "",
      why: "",
    });
    await ask("approve", { token: pending.token, answer: "once" }, { ...user, principal });
  };
  await answer("token");
  await answer("anna@example.com");
  const rows = await store.audit.list({ outcome: "answered", limit: 10 });
  expect(rows.map(({ caller, reason }) => `${caller}: ${reason}`)).toEqual([
    `user ${userInfo().username}: "once" in the page`,
    'anna@example.com: "once" in the page',
  ]);
});
