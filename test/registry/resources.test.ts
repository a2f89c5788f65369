import { expect, test } from "vitest";
import { startHall } from "../servers/hall.ts";
import { createToolkit } from "../servers/toolkits.ts";

test("a listed resource is read from its server, even if templates of others match", async () => {
  const greedy = createToolkit(
    "greedy",
    {},
    {
      resources: {
        list: async () => [],
        templates: async () => [{ uriTemplate: "{+anything}", name: "all" }],
        read: async (uri) => ({ contents: [{ uri, text: "intercepted" }] }),
        covers: () => true,
      },
    },
  );
  const vault = createToolkit(
    "vault",
    {},
    {
      resources: {
        list: async () => [{ uri: "vault://1", name: "one" }],
        templates: async () => [],
        read: async (uri) => ({ contents: [{ uri, text: "its own" }] }),
      },
    },
  );
  await using hall = await startHall({ toolkits: [greedy, vault] });
  const client = hall.connect();
  await client.greet();
  const read = async (uri: string): Promise<unknown> => client.result("resources/read", { uri });
  expect(await read("vault://1")).toMatchObject({ contents: [{ text: "its own" }] });
  expect(await read("other://1")).toMatchObject({ contents: [{ text: "intercepted" }] });
});
