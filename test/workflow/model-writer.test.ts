import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { modern } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import type { Reply } from "../servers/model-script.ts";
import { startOpenAi } from "../servers/openai-endpoint.ts";
import { read } from "./bench.ts";
import { faultsOfSpec } from "./grammar.ts";
import { descriptions, makeProject } from "./projects.ts";

/** The draft in the prompt, with an assumption of the model's. */
function answerTo(request: unknown, assumption: string): string {
  const prompt = JSON.stringify(request);
  const drafts = /# Drafts to start from(.*?)# Your answer/.exec(prompt)?.[1] ?? "";
  const text = JSON.parse(`"${drafts.replaceAll("\\\\", "\\").replaceAll('\\"', "'")}"`) as string;
  return text.replace("- Assumed: anything", `- ${assumption}\n- Assumed: anything`);
}

const specify = (folder: string): JsonObject => ({
  name: "speckit.specify",
  arguments: { feature_description: descriptions.service, spec_directory: `${folder}/specs` },
});

test("the configured model writes the documents", async () => {
  using project = makeProject();
  const script = (_turn: number, request: JsonObject): Reply => ({
    say: answerTo(request.messages, "The model assumes this."),
  });
  await using model = await startOpenAi(script);
  await using hall = await startHall({
    toolkits: [],
    workflow: { folder: project.folder },
    planner: { kind: "model", model: model.model, baseUrl: model.url },
  });
  const called = read(await hall.connect().request("tools/call", modern(specify(project.folder))));
  expect(called, called.text).toMatchObject({ isError: false, data: { notes: [] } });
  const spec = project.read("specs/001-create-edit-delete/spec.md");
  expect(faultsOfSpec(spec)).toEqual([]);
  expect(spec).toContain("- The model assumes this.");
  expect(model.requests).toHaveLength(1);
});

test("a refused model call fails the step with its reason and leaves no folder", async () => {
  using project = makeProject();
  await using model = await startOpenAi([{ status: 401, message: "bad key" }]);
  await using hall = await startHall({
    toolkits: [],
    workflow: { folder: project.folder },
    planner: { kind: "model", model: model.model, baseUrl: model.url },
  });
  const called = read(await hall.connect().request("tools/call", modern(specify(project.folder))));
  expect(called).toMatchObject({ isError: true, text: expect.stringContaining("401") });
  expect(project.files("specs")).toEqual([]);
});

test.each(["sampling", "auto"] as const)("the client's own model writes (%s)", async (kind) => {
  using project = makeProject();
  await using hall = await startHall({
    toolkits: [],
    workflow: { folder: project.folder },
    planner: { kind },
  });
  const client = hall.connect();
  await client.greet("2025-11-25", { sampling: {} });
  const id = client.ask("tools/call", specify(project.folder));
  const question = await client.heard("sampling/createMessage");
  const text = answerTo(question.params, "The client's model assumes this.");
  client.send({
    jsonrpc: "2.0",
    id: question.id as number,
    result: { role: "assistant", model: "m", content: { type: "text", text } },
  });
  expect(read(await client.answer(id))).toMatchObject({ isError: false });
  expect(project.read("specs/001-create-edit-delete/spec.md")).toContain(
    "- The client's model assumes this.",
  );
});

test("planner.kind local asks no model", async () => {
  using project = makeProject();
  await using hall = await startHall({
    toolkits: [],
    workflow: { folder: project.folder },
    planner: { kind: "local" },
  });
  const client = hall.connect();
  await client.greet("2025-11-25", { sampling: {} });
  expect(read(await client.request("tools/call", specify(project.folder)))).toMatchObject({
    isError: false,
  });
  expect(client.received.some(({ method }) => method === "sampling/createMessage")).toBe(false);
});
