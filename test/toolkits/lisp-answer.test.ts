import { expect, test } from "vitest";
import { startHall } from "../servers/hall.ts";
import { createToolkit } from "../servers/toolkits.ts";
import { openWorld } from "../trust/world.ts";
import { evaluate, tokenOf, workers } from "./lisp-hall.ts";

const camera = createToolkit("camera", {
  photo: {
    annotations: { readOnlyHint: true },
    run: ({ bytes }) => ({
      content: [{ type: "image", mimeType: "image/png", data: "A".repeat(Number(bytes)) }],
    }),
  },
});

test.each([
  ["too many parts", 25, 100, 20],
  ["too many bytes", 10, 1_000_000, 4],
])(
  "showing %s signals a condition, and the content shown before stays",
  async (_, count, bytes, shown) => {
    await using hall = await startHall({ toolkits: [camera], workers });
    const client = hall.connect();
    await client.greet("2025-11-25");
    const { content, data } = await evaluate(
      client,
      `(loop repeat ${count} do (show (camera:photo :bytes ${bytes})))`,
      { mode: "act" },
    );
    expect(content.filter(({ type }) => type === "image")).toHaveLength(shown);
    expect(data.condition?.message).toContain("shown content exceeds the limit");
  },
);

test("an answer lists at most 200 definitions and counts the rest", async () => {
  await using hall = await startHall({ toolkits: [camera], workers });
  const client = hall.connect();
  await client.greet("2025-11-25");
  const { text, data } = await evaluate(
    client,
    "(loop repeat 300 do (eval `(defun ,(gensym) () ,(make-string 1000))))",
  );
  expect(data.definitions).toHaveLength(200);
  expect(text).toContain("; 100 more definitions");
});

test("content is shown once, and dropped content is reported", async () => {
  await using hall = await startHall({ toolkits: [camera], workers });
  const client = hall.connect();
  await client.greet("2025-11-25");
  const twice = await evaluate(
    client,
    "(let ((photo (camera:photo :bytes 10))) (show photo) (show photo) :shown)",
    { mode: "act" },
  );
  expect(twice.content.map(({ type }) => type)).toEqual(["text", "image"]);
  // The hall keeps 32 MiB.
  const gone = await evaluate(
    client,
    "(let ((all (loop repeat 5 collect (camera:photo :bytes 9000000)))) (show (first all)))",
    { mode: "act" },
  );
  expect(gone.data.condition?.message).toContain("no longer available");
});

const shop = createToolkit("shop", {
  list_pets: {
    annotations: { readOnlyHint: true },
    run: () => ({ content: [{ type: "text", text: '{"pets":["Rex"]}' }] }),
  },
});

test.each([
  ['(jref (shop:list-pets) "pets" 0)', '"Rex"'],
  ['(jref "no JSON" "pets")', "invalid JSON"],
  ["(show (shop:list-pets))", "show takes an image or a file that a tool returned"],
  ["(shop.list_pets)", "write (shop:list-pets :argument value)"],
  ["(shop__list_pets)", "write (shop:list-pets :argument value)"],
])("%s reads JSON in a text, or says why it cannot", async (program, answer) => {
  await using hall = await startHall({ toolkits: [shop], workers });
  const client = hall.connect();
  await client.greet("2025-11-25");
  const { text } = await evaluate(client, program);
  expect(text).toContain(answer);
});

test("a program resumed after an approval shows content from before it", async () => {
  await using world = await openWorld({ trusted: ["camera.photo"], hall: { workers } });
  await world.door.hall.registry.add(camera);
  const client = await world.connect();
  const stopped = await evaluate(
    client,
    '(let ((before (camera:photo :bytes 7))) (files:delete-file :path "/a") (let ((after (camera:photo :bytes 9))) (show before) (show after) :shown))',
    { mode: "act" },
  );
  world.door.hall.approvals.answer(tokenOf(world), "once");
  const resumed = await evaluate(client, "", { resume: stopped.data.run });
  expect(
    resumed.content.filter(({ type }) => type === "image").map(({ data }) => String(data).length),
  ).toEqual([7, 9]);
});
