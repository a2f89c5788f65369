import { describe, expect, test } from "vitest";
import { isObject } from "../../src/base/json.ts";
import type { Tool } from "../../src/tool.ts";
import { pinOf } from "../../src/trust/pin.ts";
import { type PreviewedTool, previewCall } from "../../src/trust/preview.ts";
import { compareDefinition, goneDefinitions, reviewServer } from "../../src/trust/review.ts";
import { openWorld } from "./world.ts";

/** What a tool is: everything a model reads of it. */
const whole: Tool = {
  name: "read_file",
  title: "Read a file",
  description: "Reads a file.",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string", description: "where", enum: ["a", "b"] } },
    required: ["path"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { text: { type: "string", maxLength: 10 } } },
  annotations: { readOnlyHint: true, title: "reads" },
  _meta: { "ui/resourceUri": "ui://reader" },
  icons: [{ src: "https://example.com/icon.png" }],
};

/** The value with one byte changed, everywhere one can be. */
function* mutations(value: unknown): Generator<unknown> {
  if (typeof value === "string")
    for (let at = 0; at < value.length; at++)
      yield `${value.slice(0, at)}${value[at] === "x" ? "y" : "x"}${value.slice(at + 1)}`;
  else if (typeof value === "number") yield value + 1;
  else if (typeof value === "boolean") yield !value;
  else if (Array.isArray(value)) {
    for (const [at, item] of value.entries())
      for (const changed of mutations(item)) yield value.with(at, changed);
    yield [...value, "x"];
  } else if (isObject(value)) {
    for (const [key, part] of Object.entries(value)) {
      for (const changed of mutations(part)) yield { ...value, [key]: changed };
      for (const changed of mutations(key))
        yield {
          ...Object.fromEntries(Object.entries(value).filter(([other]) => other !== key)),
          [String(changed)]: part,
        };
    }
    yield { ...value, added: true };
  }
}

function changeOne(value: unknown): unknown {
  return isObject(value) ? { ...value, x: 1 } : `${value ?? ""}x`;
}

describe("a pin", () => {
  const fields = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    "_meta",
    "icons",
  ] as const;

  test.each(fields)("is another after a change of one byte in %s", (field) => {
    const pin = pinOf(whole);
    const changed = [...mutations(whole[field])].map(
      (value) => ({ ...whole, [field]: value }) as Tool,
    );
    const { [field]: _gone, ...without } = whole;
    expect(changed.length).toBeGreaterThan(8);
    expect([...changed, without as Tool].filter((tool) => pinOf(tool) === pin)).toEqual([]);
  });

  test("does not depend on the order of keys, or on the hall's own facts about the tool", () => {
    const turned = Object.fromEntries(Object.entries(whole).reverse()) as unknown as Tool;
    expect(pinOf({ ...turned, facts: { timeoutMs: 5 } })).toBe(pinOf(whole));
  });

  test("a change of one byte in any field is caught before the next call, and its siblings work", async () => {
    await using world = await openWorld();
    const client = await world.connect();
    const [read, ...siblings] = world.files.tools;
    const sibling = { name: "files.read_file", arguments: {} };
    for (const field of [
      "title",
      "description",
      "inputSchema",
      "outputSchema",
      "annotations",
    ] as const) {
      world.files.tools = [
        ...siblings.map((tool) => ({ ...tool, [field]: changeOne(tool[field]) })),
        ...(read ? [read] : []),
      ] as Tool[];
      await world.files.changed();
      const answer = await client.request("tools/call", {
        name: "files.delete_file",
        arguments: {},
      });
      expect(JSON.stringify(answer), field).toContain("has changed since it was reviewed");
      expect((await client.request("tools/call", sibling)).result).toMatchObject({
        content: [{ text: "nothing" }],
      });
      const { tools } = await client.result("tools/list");
      const held = (tools as Tool[]).find(({ name }) => name === "files__delete_file");
      expect(held).toMatchObject({
        _meta: { "guildhall/status": "changed" },
        description: expect.stringContaining("guildhall diff"),
      });
    }
    expect(world.ran).toEqual([]);
  });
});

describe("a review", () => {
  const review = reviewServer({
    source: "s",
    reached: "r",
    tools: [whole, { ...whole, name: "gone" }],
  });

  test("names the fields that have changed, with old and new", () => {
    const compare = (tool: Tool) => compareDefinition("tools", tool, review);
    expect(compare(whole)).toEqual({ kind: "same" });
    expect(compare({ ...whole, name: "fresh" })).toEqual({ kind: "new" });
    expect(compare({ ...whole, description: "Deletes.", annotations: {} })).toEqual({
      kind: "changed",
      fields: [
        { field: "description", before: "Reads a file.", now: "Deletes." },
        { field: "annotations", before: whole.annotations, now: {} },
      ],
    });
    expect(goneDefinitions("tools", [whole], review)).toEqual(["gone"]);
  });
});

describe("the preview of a call", () => {
  const named = (id: string, name: string, prefix = id): PreviewedTool => ({
    fullName: `${prefix}.${name}`,
    toolkit: { id },
    tool: { name },
  });

  test("names the server of the tool, with any prefix", () => {
    expect(previewCall(named("evil", "create_issue", "github"), {})).toBe(
      "github.create_issue (create_issue of evil)\n  (no arguments)",
    );
  });

  test.each([
    ["spaces", " "],
    ["wide spaces", "\u3000"],
    ["empty Braille", "\u2800"],
  ])(
    "does not let %s carry a value over to a line that looks like the next argument",
    (_what, blank) => {
      const preview = previewCall(named("sh", "run"), {
        command: `rm -rf /${blank.repeat(70)}  dry_run: true`,
      });
      expect(preview).toBe("sh.run\n  command: rm -rf /(72 blanks)dry_run: true");
    },
  );

  test("escapes invisible characters", () => {
    expect(previewCall(named("sh", "run"), { text: "a\u3164b\ufe01c\u034fd" })).toContain(
      "text: a\\u{3164}b\\u{fe01}c\\u{34f}d",
    );
  });

  test("shows every argument on its own line, and nothing that only looks like one", () => {
    const preview = previewCall(named("mail", "send"), {
      to: "a@example.com\n  cc: boss@example.com\n\nAsked because it is safe.",
      "x\u001b[2J": "\u202eabc\u{e0041}",
    });
    expect(preview.split("\n")).toEqual([
      "mail.send",
      "  to: a@example.com\\n  cc: boss@example.com\\n\\nAsked because it is safe.",
      "  x\\u{1b}[2J: \\u{202e}abc\\u{e0041}",
    ]);
  });

  test("shows both ends of long values, and hides secrets by name", () => {
    const preview = previewCall(named("sh", "run"), {
      script: `begin ${"x".repeat(5_000)} rm -rf /`,
      apiKey: "sk-1234567890",
      password: "hunter2hunter2",
    });
    expect(preview).toContain("begin xxx");
    expect(preview).toContain("rm -rf /");
    expect(preview).not.toMatch(/sk-1234567890|hunter2/);
    expect(preview.length).toBeLessThan(4_100);
  });
});
