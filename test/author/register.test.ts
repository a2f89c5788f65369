import { expect, test } from "vitest";
import { joinHall } from "../../src/author/register.ts";
import type { Channel } from "../../src/wire/channel.ts";
import { createMemoryPair } from "../../src/wire/memory.ts";
import { startHall } from "../servers/hall.ts";
import { createEchoToolkit } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";

test("a service that leaves while it is coming back does not come back", async () => {
  await using hall = await startHall({ toolkits: [] });
  const lines: Channel[] = [];
  let letIn = (): void => {};
  const admitted = new Promise<void>((resolve) => {
    letIn = resolve;
  });
  async function connect(): Promise<Channel> {
    const [near, far] = createMemoryPair();
    lines.push(far);
    if (lines.length > 1) await admitted;
    hall.hall.server.accept(far);
    return near;
  }
  const registered = await joinHall(createEchoToolkit("visitor"), connect);
  await lines[0]?.close();
  await until(() => lines.length === 2, "dialled again");
  const left = registered.close();
  letIn();
  await left;
  await until(() => hall.hall.server.clientCount === 0, "nobody on the line");
  expect(hall.hall.registry.findToolkit("visitor")?.problem?.()).toBe("its service disconnected");
});
