import { describe, expect, test } from "vitest";
import type { Tool } from "../../src/tool.ts";
import { markTool, rules } from "../../src/trust/marks.ts";

const named = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  inputSchema: { type: "object" },
  ...more,
});

describe("a tool's marks", () => {
  test.each(rules.map(({ mark, example, words }) => [example, mark, words] as const))(
    "%s is marked as %s",
    (example, mark, words) => {
      const { why } = markTool(named(example));
      expect([...words].some((word) => why[mark] === `its name contains "${word}"`)).toBe(true);
    },
  );

  test.each(rules.flatMap(({ mark, words }) => [...words].map((word) => [word, mark] as const)))(
    "the word %s alone marks as %s",
    (word, mark) => {
      expect(markTool(named(word)).why[mark]).toBeDefined();
      expect(markTool(named(`${word}Thing`)).why[mark]).toBeDefined();
      expect(markTool(named(`my-${word}-thing`)).why[mark]).toBeDefined();
    },
  );

  test.each([
    "undelete",
    "breadcrumbs",
    "get_order",
    "list_posts_setup",
    "read_file",
    "list_charges",
    "search_code",
    "get_update_status",
    "dropbox_list",
    "show_script",
  ])("%s is not taken for one that destroys", (name) =>
    expect(markTool(named(name)).effect).not.toBe("changes"),
  );

  test("a claim to destroy counts, a claim to read only counts against the name, and not against the claim to destroy", () => {
    expect(markTool(named("look", { annotations: { destructiveHint: true } })).why.changes).toBe(
      "it is marked destructive",
    );
    expect(markTool(named("delete_file", { annotations: { readOnlyHint: true } })).effect).toBe(
      "reads",
    );
    expect(
      markTool(named("delete_file", { annotations: { readOnlyHint: true, destructiveHint: true } }))
        .effect,
    ).toBe("changes");
    expect(markTool(named("delete_file", { annotations: { readOnlyHint: "true" } })).effect).toBe(
      "changes",
    );
    expect(markTool(named("delete_file", { annotations: { destructiveHint: false } })).effect).toBe(
      "changes",
    );
  });

  test.each(["d\u0435lete_file", "ｄelete", "dele\u200bte", "löschen", "read\u202efile"])(
    "the name %j is marked whatever it claims",
    (name) => {
      expect(markTool(named(name, { annotations: { readOnlyHint: true } })).effect).toBe("changes");
    },
  );

  test.each(["send_email", "create_issue", "close_pull_request", "add_comment"])(
    "%s sends and brings nothing in",
    (name) => {
      expect(markTool(named(name)).bringsIn).toBe(false);
    },
  );

  test("a tool that takes an address reads untrusted content", () => {
    expect(
      markTool(named("load", { inputSchema: { type: "object", properties: { url: {} } } }))
        .bringsIn,
    ).toBe(true);
    expect(
      markTool(named("load", { annotations: { openWorldHint: true, readOnlyHint: true } }))
        .bringsIn,
    ).toBe(true);
    expect(markTool(named("load")).bringsIn).toBe(false);
  });
});
