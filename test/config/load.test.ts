import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { userFileOf } from "../../src/config/files.ts";
import { defaultConfig, loadConfig } from "../../src/config/load.ts";
import { configSchema } from "../../src/config/schema.ts";
import { makeConfigFolder } from "./folder.ts";

describe("loadConfig", () => {
  test("gives the defaults where nothing is written, and says where it looked", async () => {
    using folder = makeConfigFolder();
    const { config, files, places, warnings, secrets } = await folder.load();
    expect(config).toEqual(defaultConfig);
    expect({ files, warnings, secrets }).toEqual({ files: [], warnings: [], secrets: [] });
    expect(places).toEqual([
      folder.userFile,
      join(folder.path, "guildhall.json"),
      join(folder.path, "guildhall.toml"),
      folder.store.index,
      join(dirname(folder.userFile), "policies", "*.cedar"),
      join(folder.path, ".guildhall", "policies", "*.cedar"),
    ]);
  });

  test("has the same defaults with and without the schema", () => {
    expect(configSchema.parse({})).toEqual(defaultConfig);
  });

  test("puts flags over everything, and only those that are given", async () => {
    using folder = makeConfigFolder({
      "guildhall.json": { timeoutSeconds: 20, listen: { port: 2, host: "localhost" } },
    });
    const flags = { listen: { port: 4, host: undefined }, log: { level: undefined } };
    const { config, files } = await folder.load({
      env: { GUILDHALL__LISTEN__PORT: "3", GUILDHALL__TIMEOUTSECONDS: "25" },
      flags,
    });
    expect(config).toMatchObject({
      timeoutSeconds: 25,
      listen: { port: 4, host: "localhost" },
      log: {},
    });
    expect(files).toEqual([join(folder.path, "guildhall.json")]);
  });

  test("takes flags without any file", async () => {
    using folder = makeConfigFolder();
    expect((await folder.load({ flags: { listen: { port: 0 } } })).config.listen).toEqual({
      host: "127.0.0.1",
      port: 0,
    });
  });

  test("freezes the config to the bottom", async () => {
    using folder = makeConfigFolder({
      "guildhall.json": {
        mcpServers: { a: { command: "a", args: ["b"], tools: { exclude: ["c"] } } },
      },
    });
    const { config } = await folder.load();
    const parts = [
      config,
      config.listen,
      config.mcpServers,
      config.mcpServers.a,
      config.mcpServers.a?.tools,
      config.mcpServers.a?.tools.exclude,
    ];
    expect(parts.map((part) => Object.isFrozen(part))).toEqual(parts.map(() => true));
  });

  test("replaces arrays", async () => {
    using folder = makeConfigFolder({
      "guildhall.json": { mcpServers: { a: { command: "a", args: ["1", "2"] } } },
    });
    const { config } = await folder.load({ env: { GUILDHALL__MCPSERVERS__A__ARGS: '["3"]' } });
    expect(config.mcpServers.a).toMatchObject({ args: ["3"] });
  });

  test("finds the user's file by XDG_CONFIG_HOME, else in the home folder", () => {
    expect(userFileOf({ XDG_CONFIG_HOME: "/xdg", HOME: "/home/a" })).toBe(
      "/xdg/guildhall/config.json",
    );
    expect(userFileOf({ XDG_CONFIG_HOME: "relative", HOME: "/home/a" })).toBe(
      "/home/a/.config/guildhall/config.json",
    );
    expect(userFileOf({ HOME: "/home/a" })).toBe("/home/a/.config/guildhall/config.json");
  });

  test("reads the user's file where the environment says", async () => {
    using folder = makeConfigFolder({ "xdg/guildhall/config.json": { names: "underscore" } });
    const { config } = await loadConfig({
      folder: folder.path,
      env: { XDG_CONFIG_HOME: join(folder.path, "xdg") },
    });
    expect(config.names).toBe("underscore");
  });

  test("takes a file saved with a byte order mark, and one behind a link", async () => {
    using folder = makeConfigFolder({ "elsewhere.json": '\uFEFF{"timeoutSeconds": 5}' });
    symlinkSync(join(folder.path, "elsewhere.json"), join(folder.path, "guildhall.json"));
    expect((await folder.load()).config.timeoutSeconds).toBe(5);
  });

  test("accepts a command with spaces when it is a file", async () => {
    using folder = makeConfigFolder({
      "guildhall.json": {
        mcpServers: { a: { command: "./my server" }, b: { command: "my server", cwd: "in" } },
      },
    });
    expect(await folder.refusal()).toContain("a.command: is a whole command line");
    folder.write("my server", "");
    folder.write("in/my server", "");
    expect(Object.keys((await folder.load()).config.mcpServers)).toEqual(["a", "b"]);
  });

  test("lists secrets from variables and from names that say so, without scheme words", async () => {
    const headers = {
      Authorization: "Bearer literal-token",
      Accept: "text/plain",
      "X-Note": `see \${NOTE}`,
    };
    const servers = {
      a: { url: `https://a.example.com/\${PART}`, headers },
      b: { command: `\${BIN}`, env: { API_KEY: "literal-key", HOME: `\${HOME}`, MODE: "fast" } },
    };
    using folder = makeConfigFolder({ "guildhall.json": { mcpServers: servers } });
    const env = {
      NOTE: "noted-secret",
      PART: "part-secret",
      BIN: "/bin/b",
      HOME: "/home/a",
      GUILDHALL__MCPSERVERS__B__ENV__MORE: "more-secret",
    };
    const { secrets } = await folder.load({ env });
    expect([...secrets].sort()).toEqual([
      "literal-key",
      "literal-token",
      "more-secret",
      "noted-secret",
      "part-secret",
    ]);
  });

  test("never repeats a value that may be a secret", async () => {
    const servers = {
      a: { url: `https://user:\${SECRET}@example.com` },
      b: { command: "b", env: { "A=B": `\${SECRET}` } },
      c: { url: `not \${SECRET} a url` },
    };
    using folder = makeConfigFolder({ "guildhall.json": { mcpServers: servers } });
    const refusal = await folder.refusal({ env: { SECRET: "hunter2hunter2" } });
    expect(refusal.split("\n")).toHaveLength(3);
    expect(refusal).not.toContain("hunter2");
  });

  test("removes single servers with wrong entries, and keeps the known part of each entry", async () => {
    const servers = {
      good: { command: "good" },
      unset: { command: "unset", prefix: "u", env: { TOKEN: `\${TOKEN}` } },
      off: { command: "off", env: { TOKEN: `\${TOKEN}` }, disabled: true },
      mistyped: { comand: "x" },
      plain: { url: "http://example.com" },
    };
    using folder = makeConfigFolder({ "guildhall.json": { mcpServers: servers } });
    const { config, unusable } = await folder.load();
    expect(Object.keys(config.mcpServers)).toEqual(["good", "off"]);
    expect(Object.keys(unusable).sort()).toEqual(["mistyped", "plain", "unset"]);
    expect(unusable.unset).toMatchObject({ entry: { command: "unset", prefix: "u" } });
    expect(unusable.unset?.problems).toEqual([
      expect.stringMatching(
        /^env\.TOKEN: the variable TOKEN is not set: no secret of that name, and not in the environment of this command; .* \(.*guildhall\.json:1:\d+\)$/,
      ),
    ]);
    expect(unusable.mistyped?.entry).toBeUndefined();
  });

  test("refuses everything when something else is wrong too, and tells all of it", async () => {
    using folder = makeConfigFolder({
      "guildhall.json": {
        timeoutSeconds: "x",
        mcpServers: { a: { command: "a", args: [`\${NONE}`] } },
      },
    });
    expect(await folder.refusal()).toMatch(
      /^2 problems in the config:\n.*mcpServers\.a\.args\[0\].*\n.*timeoutSeconds/,
    );
    folder.write("guildhall.json", { mcpServers: { "not a name": { command: "a" } } });
    expect(await folder.refusal()).toContain("is not a server name");
  });

  test("sanitises quoted text for a terminal", async () => {
    using folder = makeConfigFolder({
      "guildhall.json": { "\u001b[31mred\u009b": 1, [`long${"g".repeat(500)}`]: 1 },
    });
    const refusal = await folder.refusal();
    expect(refusal).not.toMatch(/(?!\n)\p{Cc}/u);
    expect(refusal.length).toBeLessThan(800);
  });
});

describe("a file that is refused unread", () => {
  test.skipIf(process.platform === "win32")("can be written by everybody", async () => {
    using folder = makeConfigFolder({ "guildhall.json": "{}" });
    chmodSync(join(folder.path, "guildhall.json"), 0o646);
    expect(await folder.refusal()).toBe(
      "guildhall.json: other users can write to it; expected a file only you can write; run: chmod go-w guildhall.json",
    );
    chmodSync(join(folder.path, "guildhall.json"), 0o664);
    expect(await folder.refusal()).toBe("");
  });

  test.skipIf(process.platform === "win32")(
    "is owned by somebody else and can be written by a group",
    async ({ skip }) => {
      using folder = makeConfigFolder({ "guildhall.json": "{}" });
      if (process.geteuid?.() !== 0) skip("only root can give a file away");
      const { chownSync } = await import("node:fs");
      chownSync(join(folder.path, "guildhall.json"), 12_345, 12_345);
      expect(await folder.refusal()).toBe("");
      chmodSync(join(folder.path, "guildhall.json"), 0o664);
      expect(await folder.refusal()).toContain("other users can write to it");
    },
  );

  test("has more than a mebibyte", async () => {
    using folder = makeConfigFolder();
    folder.write("guildhall.json", Buffer.alloc(100 * 1024 * 1024, " "));
    expect(await folder.refusal()).toBe(
      "guildhall.json: has 100 MiB; expected at most 1 MiB; remove everything that is not config",
    );
  });

  test("is a folder, a pipe or not text", async () => {
    using folder = makeConfigFolder();
    mkdirSync(join(folder.path, "guildhall.json"));
    expect(await folder.refusal()).toContain("guildhall.json: is not a file");
    using piped = makeConfigFolder();
    const { execFileSync } = await import("node:child_process");
    execFileSync("mkfifo", [join(piped.path, "guildhall.json")]);
    expect(await piped.refusal()).toContain("guildhall.json: is not a file");
    using binary = makeConfigFolder();
    writeFileSync(join(binary.path, "guildhall.toml"), Buffer.from([0xff, 0xfe, 0x00]));
    expect(await binary.refusal()).toContain("guildhall.toml: is not UTF-8 text");
  });
});

describe("hostile input is refused", () => {
  const bytes = 1_000_000;
  const repeated = (text: string): string => text.repeat(Math.floor(bytes / text.length));
  const numbered = (make: (n: number) => string): string => {
    let all = "";
    for (let n = 0; all.length < bytes; n++) all += make(n);
    return all;
  };
  const server = '"command": "x y"';

  test.each([
    ["brackets", "guildhall.json", repeated("[")],
    ["braces", "guildhall.json", repeated('{"a":')],
    ["an unfinished string", "guildhall.json", `{"expose": "${repeated("a")}`],
    ["an unfinished comment", "guildhall.json", `/*${repeated("* /")}`],
    ["one key again and again", "guildhall.json", `{${repeated('"expose":"tools",')}}`],
    ["unknown keys", "guildhall.json", `{${numbered((n) => `"expose${n}":1,`)}}`],
    [
      "long unknown keys",
      "guildhall.json",
      `{${numbered((n) => `"${"mcpservers".repeat(200)}${n}":1,`)}}`,
    ],
    [
      "bad servers",
      "guildhall.json",
      `{"mcpServers":{${numbered((n) => `"s${n}":{${server}},`)}}}`,
    ],
    ["empty servers", "guildhall.json", `{"mcpServers":{${numbered((n) => `"s${n}":{},`)}}}`],
    [
      "servers with unknown keys",
      "guildhall.json",
      `{"mcpServers":{"a":{"command":"a",${numbered((n) => `"k${n}":1,`)}}}}`,
    ],
    [
      "unset variables",
      "guildhall.json",
      `{"mcpServers":{"a":{"command":"a","args":["${repeated(`\${X}`)}"]}}}`,
    ],
    [
      "a bomb of variables",
      "guildhall.json",
      `{"mcpServers":{"a":{"command":"a","args":["${repeated(`\${BIG}`)}"]}}}`,
    ],
    [
      "wrong arguments",
      "guildhall.json",
      `{"mcpServers":{"a":{"command":"a","args":[${repeated("1,")}]}}}`,
    ],
    ["a long address", "guildhall.json", `{"mcpServers":{"a":{"url":"http://${repeated("a.")}"}}}`],
    ["brackets in TOML", "guildhall.toml", `a = ${repeated("[")}`],
    ["braces in TOML", "guildhall.toml", `a = ${repeated("{a=")}`],
    ["a key of many parts in TOML", "guildhall.toml", `${repeated("a.")}a = 1`],
    ["a header of many parts in TOML", "guildhall.toml", `[${repeated("a.")}a]\nb = 1`],
    ["tables in TOML", "guildhall.toml", numbered((n) => `[t${n}]\n`)],
    ["arrays of tables in TOML", "guildhall.toml", repeated("[[a]]\n")],
    [
      "servers of many parts in TOML",
      "guildhall.toml",
      `[mcpServers.a.${repeated("a.")}a]\nb = "x"`,
    ],
    ["an unfinished string in TOML", "guildhall.toml", `a = """${repeated('""\\"')}`],
    ["blanks in TOML", "guildhall.toml", `a${repeated(" ")}`],
    ["dots and blanks in TOML", "guildhall.toml", `${repeated("a . ")}`],
  ])("%s", async (_, name, content) => {
    using folder = makeConfigFolder({ [name]: content });
    // A parser that is not linear would take longer than a test may run.
    const refusal = await folder.refusal({ env: { BIG: "x".repeat(100_000) } });
    expect(refusal.length).toBeGreaterThan(0);
    expect(refusal.length).toBeLessThan(10_000);
  });
});
