/**
 * Clients that share a server which asks without saying for which call: no question and no log
 * reaches another client.
 */
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { RawClient } from "../servers/client.ts";
import { until } from "../servers/until.ts";
import {
  callTool,
  faulty,
  type StdioConfig,
  saidJson,
  startUpstreams,
} from "../servers/upstreams.ts";

const file = fileURLToPath(new URL("../servers/asking.mjs", import.meta.url));
const asking = (more: Partial<StdioConfig> = {}): StdioConfig =>
  faulty("", { args: [file], ...more });
const everything = { elicitation: {}, sampling: {}, roots: {} };

interface Asked {
  readonly name: string;
  readonly answer: unknown;
  readonly pid: number;
}

/** A client that answers each question with its own name, and keeps whose questions and logs it got. */
interface Person {
  readonly name: string;
  readonly client: RawClient;
  call(asks: boolean): Promise<Asked>;
  /** Names in what it was sent outside of answers. */
  heardOf(): ReadonlySet<string>;
}

async function join(client: RawClient, name: string): Promise<Person> {
  await client.greet("2025-11-25", everything);
  const deliver = client.deliver.bind(client);
  client.deliver = (text) => {
    deliver(text);
    const message = JSON.parse(text) as JsonObject;
    if (message.method !== undefined && message.id !== undefined)
      client.send({ jsonrpc: "2.0", id: message.id, result: { said: name } });
  };
  return {
    name,
    client,
    call: async (asks) =>
      saidJson(await callTool(client, "box.ask", { name: `<${name}>`, asks })) as Asked,
    heardOf: () =>
      new Set(
        client.received
          .filter(({ method }) => method !== undefined)
          .flatMap((message) => JSON.stringify(message).match(/<\w+>/g) ?? []),
      ),
  };
}

describe("two clients of a server that asks at random", () => {
  test("get 1,000 overlapping calls answered with 0 crossed questions and logs", async () => {
    await using hall = await startUpstreams({ box: asking() });
    await hall.untilListed("box.ask");
    const people = [await join(hall.connect(), "ada"), await join(hall.connect(), "bob")];
    // The first question teaches the hall that the server asks.
    await people[0]?.call(true);

    const processes = new Set<number>();
    const wrong: Asked[] = [];
    const work = people.flatMap((person) =>
      Array.from({ length: 10 }, async () => {
        for (let n = 0; n < 50; n++) {
          const asks = Math.random() < 0.5;
          const found = await person.call(asks);
          processes.add(found.pid);
          const expected = asks ? { said: person.name } : "not asked";
          if (JSON.stringify(found.answer) !== JSON.stringify(expected)) wrong.push(found);
        }
      }),
    );
    await Promise.all(work);
    expect(wrong).toEqual([]);
    for (const { name, heardOf } of people) expect([...heardOf()]).toEqual([`<${name}>`]);
    expect(processes.size).toBe(2);
  });

  test("share one process while their calls do not overlap", async () => {
    await using hall = await startUpstreams({ box: asking() });
    await hall.untilListed("box.ask");
    const [ada, bob] = [await join(hall.connect(), "ada"), await join(hall.connect(), "bob")];
    const answers = [await ada.call(true), await bob.call(true), await ada.call(true)];
    expect(new Set(answers.map(({ pid }) => pid)).size).toBe(1);
    expect(answers.map(({ answer }) => answer)).toEqual([
      { said: "ada" },
      { said: "bob" },
      { said: "ada" },
    ]);
  });

  test("that is always shared are not asked while they overlap; the server learns why", async () => {
    await using hall = await startUpstreams({ box: asking({ share: "always" }) });
    await hall.untilListed("box.ask");
    const [ada, bob] = [await join(hall.connect(), "ada"), await join(hall.connect(), "bob")];
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? ada : bob).call(true)),
    );
    expect(new Set(answers.map(({ pid }) => pid)).size).toBe(1);
    const refused = answers.filter(({ answer }) => isObject(answer) && answer.code === -32601);
    expect(refused.length).toBeGreaterThan(0);
    expect(JSON.stringify(refused[0])).toContain("does not say which of several clients");
    for (const { name, answer } of answers)
      if (isObject(answer) && "said" in answer) expect(name).toBe(`<${answer.said}>`);
  });

  test("that is never shared have a process each from the start, which ends with its client", async () => {
    await using hall = await startUpstreams({ box: asking({ share: "never" }) });
    await hall.untilListed("box.ask");
    const bobs = hall.connectStdio();
    const [ada, bob] = [await join(hall.connect(), "ada"), await join(bobs, "bob")];
    const first = await ada.call(false);
    const second = await bob.call(false);
    expect(second.pid).not.toBe(first.pid);
    expect((await ada.call(false)).pid).toBe(first.pid);
    bobs.end();
    await until(() => {
      try {
        process.kill(second.pid, 0);
        return false;
      } catch {
        // The process is gone.
        return true;
      }
    }, "the process of the client that left has ended");
    const carl = await join(hall.connect(), "carl");
    expect((await carl.call(false)).pid).not.toBe(first.pid);
  });
});
