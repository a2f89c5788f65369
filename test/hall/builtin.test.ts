// Built-in tools: on where there are no servers, off where there are, unless the config names them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { getTool } from "../../src/cli/hall.ts";
import { builtinNames } from "../../src/config/configured-servers.ts";
import type { HallClient } from "../../src/hall/hall-client.ts";
import { openAlone, type Project } from "../../src/hall/project.ts";
import { loadSettings } from "../../src/hall/settings.ts";
import { createBuiltinToolkits } from "../../src/toolkits/builtin.ts";
import { type Home, makeHome } from "../servers/home.ts";
import { until } from "../servers/until.ts";

const data = mkdtempSync(join(tmpdir(), "guildhall-builtin-"));
const open: { readonly home: Home; readonly project: Project }[] = [];
vi.stubEnv("XDG_DATA_HOME", data);
vi.stubEnv("XDG_CONFIG_HOME", data);
vi.stubEnv("XDG_RUNTIME_DIR", data);
afterEach(async () => {
  for (const { home, project } of open.splice(0)) {
    await project.close();
    home[Symbol.dispose]();
  }
});
afterAll(() => rmSync(data, { recursive: true, force: true }));

const mcpServers = { shop: { command: "no-such-program" } };

async function openWith(config: JsonObject | undefined): Promise<{ home: Home; project: Project }> {
  const home = makeHome(config ? { "./guildhall.json": config } : {});
  const settings = await loadSettings({ folder: home.project }, "silent");
  const opened = { home, project: await openAlone({ folder: home.project, settings }) };
  open.push(opened);
  return opened;
}

function toolkitsOf({ hall }: Project): readonly string[] {
  return [...new Set(hall.registry.tools().map(({ toolkit }) => toolkit.id))].filter(
    (id) => id !== "speckit",
  );
}

test("without servers they are on, except a search whose provider is not set up", async () => {
  const all = ["calculator", "document_analyzer", "image_generator", "search_tool", "time_tool"];
  expect(toolkitsOf((await openWith(undefined)).project)).toEqual(all);
  expect(toolkitsOf((await openWith({ names: "dot" })).project)).toEqual(all);
  const { project } = await openWith({ search: { provider: "searxng" } });
  expect(toolkitsOf(project)).toEqual(all.filter((id) => id !== "search_tool"));
});

test("with servers they are off: not listed, found, grouped or checked", async () => {
  const { project } = await openWith({ mcpServers });
  expect(toolkitsOf(project)).toEqual([]);
  expect((await project.hall.finder.find("current time in Lima")).found).toEqual([]);
  expect((await project.hall.finder.find("write a specification")).found).toEqual([]);
  expect(project.hall.registry.toolkits().map(({ id }) => id)).not.toContain("time_tool");
});

test.each(["time_tool.current_time", "time_tool__current_time", "time_tool.anything"])(
  "a call of %s answers with the line that turns it on",
  async (name) => {
    const { project } = await openWith({ mcpServers, builtin: ["calculator"] });
    expect(() => project.hall.registry.getTool(name)).toThrow(
      expect.objectContaining({
        code: "UNAVAILABLE",
        message: 'the built-in "time_tool" is off in this project',
        next: [{ do: "edit-config", field: "builtin", value: ["calculator", "time_tool"] }],
      }),
    );
  },
);

test("a command that calls one prints the same, and the settings a search needs", async () => {
  using home = makeHome({
    "./guildhall.json": { mcpServers, builtin: ["search_tool"], search: { provider: "searxng" } },
  });
  const settings = await loadSettings({ folder: home.project }, "silent");
  const client = { list: async () => [] } as unknown as HallClient;
  await expect(getTool("time_tool.current_time", client, settings)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    next: [{ do: "edit-config", field: "builtin", value: ["search_tool", "time_tool"] }],
  });
  await expect(getTool("search_tool.web_search", client, settings)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    next: [{ do: "edit-config", field: "search.url" }],
  });
});

test("the config names those that are on, also in a hall that runs", async () => {
  const { home, project } = await openWith({ mcpServers, builtin: ["time_tool"] });
  expect(toolkitsOf(project)).toEqual(["time_tool"]);
  home.write("./guildhall.json", { mcpServers, builtin: ["calculator"] });
  await until(() => toolkitsOf(project).join() === "calculator", "the edit is applied");
  home.write("./guildhall.json", { mcpServers, builtin: "all" });
  await until(() => toolkitsOf(project).length === 5, "all are on");
});

test("a reload that cannot switch them does not stop the next one", async () => {
  const { home, project } = await openWith({ mcpServers, builtin: ["time_tool"] });
  const replace = vi.spyOn(project.hall.registry, "replace");
  replace.mockRejectedValueOnce(new Error("cannot be replaced"));
  home.write("./guildhall.json", { mcpServers, builtin: ["calculator"] });
  await until(() => replace.mock.calls.length === 1, "the first edit is applied");
  home.write("./guildhall.json", { mcpServers, builtin: ["calculator"], names: "dot" });
  await until(() => toolkitsOf(project).join() === "calculator", "the second edit is applied");
});

test("the config can name each of them", () => {
  const ids = createBuiltinToolkits().map(({ id }) => id);
  expect([...ids, "speckit"].sort()).toEqual([...builtinNames]);
});
