import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLog, Secrets } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { ServerConfig } from "../../src/config/schema.ts";
import { written } from "../../src/config/variables.ts";
import { openReview, type ReviewSession, reviewDiscoveries } from "../../src/hall/review.ts";
import type { Settings } from "../../src/hall/settings.ts";
import { isOpenToOthers, openNamedTokens } from "../../src/server/http/tokens.ts";
import { openLedger } from "../../src/trust/ledger.ts";
import { refusePackage, reviewServer } from "../../src/trust/review.ts";
import { describeSource, sourceOf } from "../../src/upstream/source.ts";
import { openDoor } from "../servers/door.ts";
import { reviewWith } from "../servers/reviewing.ts";
import { createToolkit, text } from "../servers/toolkits.ts";
import { definitionOf, faulty, locked } from "../servers/upstreams.ts";

/** What a project's files can say, what a review writes down, and who else may call. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-project-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

describe("a project's config cannot ask for fewer approvals", () => {
  const load = (project: object, user: object = {}, env: NodeJS.ProcessEnv = {}) => {
    writeFileSync(join(folder, "guildhall.json"), JSON.stringify(project));
    writeFileSync(join(folder, "user.json"), JSON.stringify(user));
    return loadConfig({ folder, userFile: join(folder, "user.json"), env });
  };

  test.each<[string, object, object?, NodeJS.ProcessEnv?]>([
    ["by calling a tool safe", { trust: { tools: { "box.delete": "safe" } } }],
    ["by calling a server safe", { trust: { tools: { "box.*": "safe" } } }],
    ["by taking tools from the flow guard", { trust: { unguarded: ["mail.*"] } }],
    [
      "by a milder policy than the user's",
      { trust: { policy: "destructive" } },
      { trust: { policy: "all" } },
    ],
    [
      "by a milder policy for a server",
      { trust: { servers: { box: "destructive" } } },
      { trust: { servers: { box: "all" } } },
    ],
    [
      "by an exception for one server",
      { trust: { servers: { box: "destructive" } } },
      { trust: { policy: "all" } },
    ],
    [
      "by an exception from the environment's policy",
      { trust: { servers: { box: "destructive" } } },
      {},
      { GUILDHALL__TRUST__POLICY: "all" },
    ],
  ])("%s", async (_how, project, user, env) => {
    await expect(load(project, user, env)).rejects.toThrow("requires fewer approvals");
  });

  test("but for more", async () => {
    const { config } = await load({
      trust: {
        policy: "all",
        servers: { box: "destructive" },
        tools: { "box.look": "destructive" },
      },
    });
    expect(config.trust).toMatchObject({ policy: "all", tools: { "box.look": "destructive" } });
  });
});

describe("the approved facts of a server", () => {
  const env = { TRACE: "1", AWS_SECRET_ACCESS_KEY: "aws" };
  const of = (variable: string): string => ["$", "{", variable, "}"].join("");
  const load = async (entry: object, more: NodeJS.ProcessEnv = {}): Promise<ServerConfig> => {
    writeFileSync(join(folder, "guildhall.json"), JSON.stringify({ mcpServers: { box: entry } }));
    const { config } = await loadConfig({
      folder,
      userFile: join(folder, "none.json"),
      env: { ...env, ...more },
    });
    return config.mcpServers.box as ServerConfig;
  };
  const remote = (trace: string, clientSecret = "none"): object => ({
    url: "https://box.example",
    headers: { "X-Trace": trace },
    oauth: { clientSecret },
  });
  const program = (value: string, name = "BOX"): object => ({
    command: "node",
    args: ["box.js"],
    env: { [name]: value },
  });

  test.each<[string, object, object]>([
    ["another variable in a header", remote("1"), remote(of("AWS_SECRET_ACCESS_KEY"))],
    [
      "another variable behind one that stays",
      remote(of("TRACE")),
      remote(`${of("TRACE")}${of("AWS_SECRET_ACCESS_KEY")}`),
    ],
    ["another variable in the login", remote("1"), remote("1", of("AWS_SECRET_ACCESS_KEY"))],
    ["another variable for a program", program("/usr/bin"), program(of("AWS_SECRET_ACCESS_KEY"))],
    [
      "another folder to find programs in",
      program("/usr/bin", "PATH"),
      program("/opt/bin:/usr/bin", "PATH"),
    ],
  ])("is not %s", async (_what, approved, now) => {
    expect(sourceOf(await load(now))).not.toBe(sourceOf(await load(approved)));
  });

  test("is the address where no file has the entry", async () => {
    const sourceAt = async (url: string): Promise<string> => {
      const { [written]: _texts, ...config } = await load({ url });
      return sourceOf(config);
    };
    expect(await sourceAt("https://box.example")).not.toBe(await sourceAt("https://b.example"));
  });

  test("is the credential of an API where no file has the entry", async () => {
    const sourceWith = async (key: string): Promise<string> => {
      const openapi = "https://api.example/openapi.json";
      const { [written]: _texts, ...config } = await load({ openapi, auth: { key } });
      return sourceOf(config as ServerConfig);
    };
    expect(await sourceWith("one")).not.toBe(await sourceWith("two"));
  });

  test("is another value of the same variable, and the same after other keys of the entry", async () => {
    const approved = sourceOf(await load(remote(of("TRACE"))));
    expect(sourceOf(await load(remote(of("TRACE")), { TRACE: "2" }))).toBe(approved);
    expect(sourceOf(await load({ ...remote(of("TRACE")), timeoutSeconds: 5 }))).toBe(approved);
  });

  test("is shown with the variables whose values it gets, and with none of the values", async () => {
    const shown = describeSource(
      await load({
        ...remote(of("AWS_SECRET_ACCESS_KEY:-x"), of("TRACE")),
        headers: { "X-Trace": of("AWS_SECRET_ACCESS_KEY:-x"), Plain: "y" },
      }),
    );
    expect(shown).toBe(
      `https://box.example over http with headers Plain=y, X-Trace=${of("AWS_SECRET_ACCESS_KEY:-x")} and a login with clientSecret=${of("TRACE")}`,
    );
    expect(describeSource(await load(program(`$${of("TRACE")}${of("env:TRACE")}`)))).toContain(
      `node box.js with BOX=$${of("TRACE")}${of("env:TRACE")}; the program is /`,
    );
  });
});

describe("a review on a terminal", () => {
  const config = faulty("told");
  const found = {
    ...locked(config, []),
    offer: {
      tools: [definitionOf("echo"), { name: "delete_all", inputSchema: { type: "object" } }],
      resources: [],
      templates: [],
      prompts: [],
    },
  };
  const settings = {
    get folder() {
      return folder;
    },
    config: {
      mcpServers: { box: config },
      toolkits: [],
      defaults: { sandbox: "off" },
      store: {},
      trust: { policy: "destructive", servers: {}, tools: {}, unguarded: [] },
    },
    loaded: { files: [], unusable: {}, config: { mcpServers: { box: config } }, toApprove: [] },
    log: createLog({ level: "silent" }),
    secrets: new Secrets(),
  } as unknown as Settings;

  async function review(
    ...answers: string[]
  ): Promise<ReviewSession & { readonly asked: string[] }> {
    vi.stubEnv("XDG_DATA_HOME", join(folder, "data"));
    const { reviewer, shown: asked } = reviewWith(...answers);
    const session = await openReview(settings, reviewer);
    await reviewDiscoveries(session, [{ name: "box", found, ms: 1 }]);
    return { ...session, entries: await session.ledger.read(), asked };
  }

  test("shows the command and every tool, and records an approval with the chosen marks", async () => {
    const { entries, asked } = await review("v", "foo", "99", "2", "", "space", "enter");
    expect(asked[0]).toMatch(/\[ \] box +2 tools: 1 read, 1 change, 1 ask first/);
    expect(asked[1]).toMatch(
      /box .*faulty\.mjs told[\s\S]*echo +new +no[\s\S]*delete_all +new +yes +its name contains "delete"/,
    );
    expect(asked[2]).toContain('unknown answer "foo" (expected: v 1, 2, 1 3, or Enter;');
    expect(asked[3]).toContain('unknown answer "99"');
    expect(asked[4]).toMatch(/delete_all +new +no +you decided so/);
    expect(entries.servers.box?.tools).toMatchObject({
      echo: { isDestructive: false },
      delete_all: { isDestructive: false },
    });
    // What was said stays said; nothing is asked again.
    expect((await review()).asked).toEqual([]);
  });

  test("does not ask about a server that did not answer, and lets it start again", async () => {
    vi.stubEnv("XDG_DATA_HOME", join(folder, "data"));
    const { reviewer, shown } = reviewWith();
    const session = await openReview(settings, reviewer);
    await reviewDiscoveries(session, [
      {
        name: "box",
        reason: "exited with code 9",
        isDenied: false,
        isInstalling: false,
        stderr: [],
        ms: 1,
      },
    ]);
    expect(shown).toEqual([]);
    expect((await session.ledger.read()).servers.box).toMatchObject({
      reached: expect.stringContaining("faulty.mjs"),
      tools: {},
    });
  });

  test("writes nothing after a no", async () => {
    expect((await review()).entries.servers).toEqual({});
  });
});

test.each([
  [0o600, false],
  [0o640, true],
  [0o604, true],
])("a token file of mode %o is open to others: %s", async (mode, isOpen) => {
  const file = join(folder, "token");
  writeFileSync(file, "0123456789abcdef");
  chmodSync(file, mode);
  expect(await isOpenToOthers(file)).toBe(isOpen);
});

describe("named tokens", () => {
  test("are kept as hashes, readable by their user only, and open nothing once revoked", async () => {
    const tokens = openNamedTokens(folder);
    const token = await tokens.create("ci");
    expect(token.length).toBeGreaterThan(40);
    const file = join(folder, "tokens.json");
    expect(readFileSync(file, "utf8")).not.toContain(token);
    expect(statSync(file).mode & 0o077).toBe(0);
    // Another process, which was there before.
    expect(tokens.list().map(({ name }) => name)).toEqual(["ci"]);
    expect(openNamedTokens(folder).find(token)).toMatchObject({ principal: "ci" });
    await openNamedTokens(folder).revoke("ci");
    expect(tokens.find(token)).toBeUndefined();
    await expect(tokens.revoke("ci")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test.each(["local", "Token", "", "a b", "../x", "x".repeat(41)])(
    "cannot be named %j",
    async (name) => {
      await expect(openNamedTokens(folder).create(name)).rejects.toMatchObject({
        code: "INVALID_PARAMS",
      });
    },
  );

  test("in a damaged file open nothing", () => {
    mkdirSync(folder, { recursive: true });
    for (const damage of [
      "",
      "[]",
      '{"ci":{"hash":"","createdAt":1}}',
      '{"local":{}}',
      "no json",
    ]) {
      writeFileSync(join(folder, "tokens.json"), damage);
      expect(openNamedTokens(folder).find("")).toBeUndefined();
    }
  });

  test("name their caller at the door, and cannot be taken for another's", async () => {
    const tokens = openNamedTokens(folder);
    const [ci, desk] = [await tokens.create("ci"), await tokens.create("desk")];
    const callers: string[] = [];
    const who = createToolkit("who", { delete_it: { run: () => text("done") } });
    await using door = await openDoor({
      toolkits: [who],
      findOwner: tokens.find,
      trust: { ledger: openLedger("/a/project", { folder, warn: () => {} }) },
      audit: async ({ caller }) => void callers.push(caller),
    });
    const call = async (token?: string): Promise<number> => {
      const body = {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { tool_name: "who", function_name: "delete_it", arguments: {} },
      };
      return (
        await door.send({
          body,
          headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        })
      ).status;
    };
    expect(await call("wrong-token-wrong-token")).toBe(401);
    for (const token of [ci, desk, door.token, undefined]) await call(token);
    expect(callers).toEqual(["ci", "desk", "token", "local"]);
    // Each has asked for itself: approving one does not approve the others.
    const pending = door.hall.approvals.pending();
    expect(pending.map(({ caller }) => caller)).toEqual(["ci", "desk", "token", "local"]);
    door.hall.approvals.answer(pending[0]?.token ?? "", "once");
    const answers = await Promise.all([desk, ci].map(async (token) => call(token)));
    expect(answers).toEqual([expect.any(Number), 200]);
    await tokens.revoke("ci");
    expect(await call(ci)).toBe(401);
  });
});

test("an installed package runs with the contents that were approved, and with no others", () => {
  const source = "npx box@1.0.0";
  const review = { ...reviewServer({ source, reached: "box", tools: [] }), integrity: "sha512-a" };
  const refusalOf = (integrity: string | undefined): string | undefined =>
    refusePackage(review, source, { name: "box", version: "1.0.0", integrity });
  expect(refusalOf("sha512-a")).toBeUndefined();
  expect(refusalOf("sha512-b")).toContain("other contents than you approved (now sha512-b");
  expect(refusalOf(undefined)).toContain("now without a digest");
});
