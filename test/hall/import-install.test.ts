import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { type ParseError, parse } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { ImportedClient } from "../../src/hall/import/clients.ts";
import { clients } from "../../src/hall/import/clients.ts";
import { type ImportPlaces, resolvePath } from "../../src/hall/import/document.ts";
import { findServers } from "../../src/hall/import/import.ts";
import { removeFromJson, setInJson } from "../../src/hall/install/edit.ts";
import {
  applyInstall,
  applyUninstall,
  planInstall,
  planUninstall,
} from "../../src/hall/install/install.ts";
import { openRecords, type Records } from "../../src/hall/install/records.ts";
import { type Home, makeHome } from "../servers/home.ts";

const command = ["guildhall", "mcp"] as const;

function client(id: string): ImportedClient {
  const found = clients.find((each) => each.id === id);
  if (!found) throw new Error(`no client ${id}`);
  return found;
}

interface Setup {
  readonly machine: ImportPlaces;
  readonly records: Records;
  install(id: string, scope?: "user" | "project", move?: readonly string[]): Promise<string>;
  uninstall(id: string, scope?: "user" | "project"): Promise<{ file: string; isRestored: boolean }>;
}

function openIn({ path, project, env }: Home): Setup {
  const machine: ImportPlaces = {
    platform: "linux",
    home: path,
    env: { ...env, XDG_DATA_HOME: join(path, "data") },
    folder: project,
  };
  const records = openRecords(machine.env);
  return {
    machine,
    records,
    async install(id, scope, move) {
      const plan = await planInstall({ client: client(id), machine, scope }, command, move);
      await applyInstall(plan, records);
      return plan.file;
    },
    async uninstall(id, scope) {
      const plan = await planUninstall({ client: client(id), machine, scope }, records);
      await applyUninstall(plan, records);
      return plan;
    },
  };
}

describe("the files of every client", () => {
  test.each(["linux", "darwin", "win32"] as const)(
    "are full paths under the home or the project on %s",
    (platform) => {
      const [home, folder] =
        platform === "win32" ? ["C:\\Users\\me", "D:\\work\\it"] : ["/home/me", "/projects/it"];
      const machine: ImportPlaces = { platform, home, folder, env: {} };
      const places = clients.flatMap(({ id, files }) =>
        files.flatMap(({ path }) => resolvePath(path, machine)?.replace(/^/, `${id} `) ?? []),
      );
      expect(places).toMatchSnapshot();
    },
  );

  test("follow environment variables, unless these are relative", () => {
    const at = (id: string, env: NodeJS.ProcessEnv): string | undefined => {
      const place = client(id).files.find(({ scope }) => scope === "user");
      return (
        place &&
        resolvePath(place.path, {
          platform: "linux",
          home: "/home/me",
          folder: "/projects/it",
          env,
        })
      );
    };
    expect(at("codex", { CODEX_HOME: "/opt/codex" })).toBe("/opt/codex/config.toml");
    expect(at("codex", { CODEX_HOME: "codex" })).toBe("/home/me/.codex/config.toml");
    expect(at("zed", { XDG_CONFIG_HOME: "/etc/me" })).toBe("/etc/me/zed/settings.json");
    expect(at("claude-code", { CLAUDE_CONFIG_DIR: "/opt/claude" })).toBe(
      "/opt/claude/.claude.json",
    );
  });
});

describe("install", () => {
  test.each(clients.map(({ id }) => id))(
    "puts the hall into a fresh file of %s, and uninstall leaves no trace of it",
    async (id) => {
      using home = makeHome();
      const setup = openIn(home);
      const before = Object.keys(home.files());
      const file = await setup.install(id);
      const text = readFileSync(file, "utf8");
      expect(text).toContain("guildhall");
      expect(text).toMatch(/"mcp"/);
      const again = await planInstall({ client: client(id), machine: setup.machine }, command);
      expect(again.after?.equals(again.before ?? Buffer.alloc(0))).toBe(true);
      expect((await setup.uninstall(id)).isRestored).toBe(true);
      expect(Object.keys(home.files()).filter((name) => !name.includes("/data/"))).toEqual(before);
      // Folders that were created for it are removed as well.
      expect(existsSync(join(home.project, ".cursor"))).toBe(false);
    },
  );

  test("an installed hall is never imported", async () => {
    using home = makeHome();
    const setup = openIn(home);
    for (const { id } of clients) await setup.install(id);
    const { servers, warnings, files } = await findServers({ machine: setup.machine });
    expect({ servers, warnings }).toEqual({ servers: [], warnings: [] });
    expect(files.map(({ client: id, hasHall }) => `${id} ${hasHall}`)).toEqual(
      clients.map(({ id }) => `${id} true`),
    );
  });

  test("writes the format of each client", async () => {
    using home = makeHome({ "~/.config/opencode/opencode.jsonc": '{ "mcp": { "servers": {} } }' });
    const setup = openIn(home);
    const texts: Record<string, string> = {};
    for (const id of ["claude-code", "vscode", "codex", "zed", "opencode"])
      texts[id] = readFileSync(await setup.install(id), "utf8");
    texts["opencode 2"] = readFileSync(await setup.install("opencode", "user"), "utf8");
    expect(texts).toMatchSnapshot();
  });

  test("keeps comments, trailing commas, line ends and the byte order mark", async () => {
    const text =
      '\ufeff{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"a": { "command": "a" }, // behind a\r\n\t\t/* last */\r\n\t},\r\n}\r\n';
    using home = makeHome({ "./.cursor/mcp.json": text });
    const file = await openIn(home).install("cursor");
    expect(readFileSync(file, "utf8")).toBe(
      '\ufeff{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"a": { "command": "a" }, // behind a\r\n\t\t/* last */\r\n\t\t"guildhall": {\r\n\t\t\t"command": "guildhall",\r\n\t\t\t"args": [\r\n\t\t\t\t"mcp"\r\n\t\t\t]\r\n\t\t},\r\n\t},\r\n}\r\n',
    );
  });

  test("rejects an invalid file with the line, and leaves it unchanged", async () => {
    const broken = '{\n  "mcpServers": {\n    "a": \n}\n';
    using home = makeHome({
      "./.cursor/mcp.json": broken,
      "./.codex/config.toml": "[mcp_servers.a]\ncommand =\n",
      "./.vscode/mcp.json": "[]",
    });
    const setup = openIn(home);
    await expect(setup.install("cursor")).rejects.toThrow(/mcp\.json:4:1: not valid JSON/);
    await expect(setup.install("codex")).rejects.toThrow(/config\.toml:2:\d+: not valid TOML/);
    await expect(setup.install("vscode")).rejects.toThrow(/is not an object/);
    expect(home.read("./.cursor/mcp.json")).toBe(broken);
  });

  test("rejects a file with an inline map, which it cannot edit", async () => {
    const inline = 'mcp_servers = { a = { command = "a" } }\n';
    using home = makeHome({
      "./.codex/config.toml": inline,
      "./.zed/settings.json": '{ "context_servers": [] }',
    });
    await expect(openIn(home).install("codex")).rejects.toThrow(/cannot edit this file/);
    await expect(openIn(home).install("zed")).rejects.toThrow(/cannot edit this file/);
    expect(home.read("./.codex/config.toml")).toBe(inline);
  });

  test("rejects a file in which another server has the name", async () => {
    using home = makeHome({
      "./.cursor/mcp.json": { mcpServers: { guildhall: { command: "other" } } },
    });
    await expect(openIn(home).install("cursor")).rejects.toMatchObject({ code: "CONFLICT" });
  });

  test("updates an existing entry of any name", async () => {
    using home = makeHome({
      "./.cursor/mcp.json": { mcpServers: { hub: { command: "npx", args: ["guildhall", "mcp"] } } },
    });
    const file = await openIn(home).install("cursor");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      mcpServers: { hub: { command: "guildhall", args: ["mcp"] } },
    });
  });

  test("follows a link and keeps the link, the mode and hard links", async () => {
    using home = makeHome({ "~/dotfiles/mcp.json": "{}", "./.vscode/mcp.json": "{}" });
    const setup = openIn(home);
    const [real, link] = [home.locate("~/dotfiles/mcp.json"), home.locate("~/.cursor/mcp.json")];
    chmodSync(real, 0o640);
    home.write("~/.cursor/x", "");
    symlinkSync(real, link);
    await setup.install("cursor", "user");
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toContain("guildhall");
    expect(statSync(real).mode & 0o777).toBe(0o640);
    await setup.uninstall("cursor", "user");
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toBe("{}");
    expect(statSync(real).mode & 0o777).toBe(0o640);

    const other = home.locate("~/other-name.json");
    linkSync(home.locate("./.vscode/mcp.json"), other);
    await setup.install("vscode");
    expect(readFileSync(other, "utf8")).toContain("guildhall");
  });

  test("follows a link to a file that does not exist yet", async () => {
    using home = makeHome({ "~/.cursor/x": "" });
    symlinkSync(home.locate("~/dotfiles/new.json"), home.locate("~/.cursor/mcp.json"));
    await openIn(home).install("cursor", "user");
    expect(lstatSync(home.locate("~/.cursor/mcp.json")).isSymbolicLink()).toBe(true);
    expect(home.read("~/dotfiles/new.json")).toContain("guildhall");
  });

  test("backups are named by time and only the user can read them", async () => {
    using home = makeHome({ "./.cursor/mcp.json": "{}" });
    const setup = openIn(home);
    await setup.install("cursor");
    const [record] = await setup.records.all();
    expect(record?.backup).toMatch(/\/\d{4}-\d\d-\d\dT[\d-]+Z-cursor-mcp\.json$/);
    expect(statSync(record?.backup ?? "").mode & 0o777).toBe(0o600);
    expect(statSync(setup.records.folder).mode & 0o777).toBe(0o700);
  });
});

describe("uninstall", () => {
  test("restores any JSON with comments byte for byte, also after moving servers", async () => {
    using home = makeHome();
    const setup = openIn(home);
    await fc.assert(
      fc.asyncProperty(jsonc(), fc.boolean(), async ({ text, names }, isMoving) => {
        const file = home.write("./.cursor/mcp.json", text);
        await setup.install("cursor", "project", isMoving ? names : []);
        const installed = readFileSync(file, "utf8");
        if (!isMoving) expect(commentsOf(installed)).toEqual(commentsOf(text));
        await setup.install("cursor");
        expect(readFileSync(file, "utf8")).toBe(installed);
        expect((await setup.uninstall("cursor")).isRestored).toBe(true);
        expect(readFileSync(file, "utf8")).toBe(text);
      }),
      { numRuns: 60 },
    );
  });

  test("removes only the hall and restores moved servers if the file was changed since", async () => {
    const text =
      '{\n  "mcpServers": {\n    "a": { "command": "a" },\n    "b": { "command": "b" }\n  }\n}\n';
    using home = makeHome({ "./.cursor/mcp.json": text });
    const setup = openIn(home);
    const file = await setup.install("cursor", "project", ["a", "b"]);
    expect(parse(readFileSync(file, "utf8"))).toEqual({
      mcpServers: { guildhall: { command: "guildhall", args: ["mcp"] } },
    });
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace('"mcpServers"', '"theme": "dark", // new\n  "mcpServers"'),
    );
    expect((await setup.uninstall("cursor")).isRestored).toBe(false);
    expect(readFileSync(file, "utf8")).toContain("// new");
    expect(parse(readFileSync(file, "utf8"))).toEqual({
      theme: "dark",
      mcpServers: { a: { command: "a" }, b: { command: "b" } },
    });
    expect(await setup.records.all()).toEqual([]);
  });

  test("keeps a change that was made between two installs", async () => {
    using home = makeHome({
      "./.cursor/mcp.json": '{ "mcpServers": { "a": { "command": "a" } } }',
    });
    const setup = openIn(home);
    const file = await setup.install("cursor");
    writeFileSync(file, readFileSync(file, "utf8").replace("{ ", '{ "theme": "dark", '));
    await setup.install("cursor", "project", ["a"]);
    await setup.uninstall("cursor");
    expect(parse(readFileSync(file, "utf8"))).toEqual({
      theme: "dark",
      mcpServers: { a: { command: "a" } },
    });
  });

  test("removes a hall that was added to TOML by hand, and nothing else", async () => {
    const text =
      '# mine\nmodel = "x"\n\n[mcp_servers.guildhall]\ncommand = "guildhall"\nargs = ["mcp"]\n\n[mcp_servers.guildhall.env]\nA = "b"\n\n[mcp_servers.a]\ncommand = "a" # yes\n';
    using home = makeHome({ "./.codex/config.toml": text });
    await openIn(home).uninstall("codex");
    expect(home.read("./.codex/config.toml")).toBe(
      '# mine\nmodel = "x"\n\n[mcp_servers.a]\ncommand = "a" # yes\n',
    );
  });

  test("does nothing without a hall, and reports a missing backup", async () => {
    using home = makeHome({ "./.cursor/mcp.json": "{ }" });
    const setup = openIn(home);
    await setup.uninstall("cursor");
    expect(home.read("./.cursor/mcp.json")).toBe("{ }");
    await setup.install("cursor");
    rmSync((await setup.records.all())[0]?.backup ?? "");
    await expect(setup.uninstall("cursor")).rejects.toThrow(/the backup is missing/);
  });
});

describe("edits of JSON with comments", () => {
  test("removing an entry also removes the line above it that init wrote, and no other comment", () => {
    const text = `{\n  // servers\n  "a": 1,\n  // from Cursor: .cursor/mcp.json\n  "b": 2,\n  // from here on ours\n\n  "c": 3\n}\n`;
    expect(removeFromJson(text, ["b"])).toBe(
      '{\n  // servers\n  "a": 1,\n  // from here on ours\n\n  "c": 3\n}\n',
    );
    expect(removeFromJson(text, ["a"])).toContain("// servers");
    expect(removeFromJson(text, ["c"])).toContain("// from here on ours");
  });

  test("setting and removing change exactly one entry and keep all other comments", () => {
    fc.assert(
      fc.property(jsonc(), keyName(), ({ text, names }, name) => {
        const tree = parse(text) as { mcpServers?: JsonObject };
        const set = setInJson(text, ["mcpServers", name], { x: [1, { y: null }] });
        expect(strict(set)).toEqual({
          ...tree,
          mcpServers: { ...tree.mcpServers, [name]: { x: [1, { y: null }] } },
        });
        const [first] = names;
        if (first === undefined) return;
        const removed = removeFromJson(text, ["mcpServers", first]);
        const { [first]: _, ...rest } = tree.mcpServers ?? {};
        expect(strict(removed)).toEqual({ ...tree, mcpServers: rest });
      }),
      { numRuns: 400 },
    );
  });
});

/** Random files with comments anywhere, trailing commas, tabs or spaces, one line or many. */
function jsonc(): fc.Arbitrary<{ text: string; names: string[] }> {
  const key = keyName();
  const gap = fc.constantFrom(
    "",
    " ",
    "\n",
    "\n  ",
    "\n\t",
    " // a note\n",
    "/* note */",
    '\n// { "x": 1 }\n\n',
  );
  const value = fc
    .oneof(
      fc.integer(),
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.string(), { maxLength: 2 }),
    )
    .map((each) => JSON.stringify(each));
  const server = fc.string({ maxLength: 5 }).map((name) => JSON.stringify({ command: name }));
  const object = (values: fc.Arbitrary<string>): fc.Arbitrary<{ text: string; names: string[] }> =>
    fc
      .record({
        entries: fc.uniqueArray(fc.tuple(key, values, gap, gap, gap), {
          maxLength: 4,
          selector: ([name]) => name,
        }),
        end: gap,
        isTrailing: fc.boolean(),
      })
      .map(({ entries, end, isTrailing }) => ({
        names: entries.map(([name]) => name),
        text: `{${entries.map(([name, inner, a, b, c]) => `${a}${JSON.stringify(name)}${b}:${c}${inner}`).join(",")}${isTrailing && entries.length > 0 ? "," : ""}${end}}`,
      }));
  return fc
    .record({
      before: object(value),
      map: object(server),
      start: gap,
      end: gap,
      hasMap: fc.boolean(),
    })
    .filter(({ before }) => !before.names.includes("mcpServers"))
    .map(({ before, map, start, end, hasMap }) => {
      if (!hasMap) return { text: start + before.text + end, names: [] };
      const inner = before.text.slice(1, -1);
      return before.names.length === 0
        ? { text: `${start}{${inner}"mcpServers":${map.text}}${end}`, names: map.names }
        : { text: `${start}{"mcpServers":${map.text},${inner}}${end}`, names: map.names };
    });
}

/** Without `__proto__`, which plain objects cannot hold. */
function keyName(): fc.Arbitrary<string> {
  return fc
    .string({ minLength: 1, maxLength: 8 })
    .filter((name) => name !== "guildhall" && name !== "__proto__");
}

function strict(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  expect(errors).toEqual([]);
  return value;
}

function commentsOf(text: string): string[] {
  return text.match(/\/\* note \*\/|\/\/ a note/g) ?? [];
}
