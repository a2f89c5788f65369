import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { watchConfig } from "../../src/config/watch.ts";
import { until } from "../servers/until.ts";
import { type ConfigFolder, makeConfigFolder } from "./folder.ts";

const entry = { command: "box", env: { TOKEN: `\${TOKEN}` } };

function makeProject(): ConfigFolder & { readonly real: string } {
  const folder = makeConfigFolder({ "guildhall.json": { mcpServers: { box: entry } } });
  return Object.assign(folder, { real: realpathSync(folder.path) });
}

/** The value that the server gets, or what is wrong with its entry. */
async function tokenIn(folder: ConfigFolder, env: NodeJS.ProcessEnv = {}): Promise<unknown> {
  const { config, unusable } = await folder.load({ env });
  const server = config.mcpServers.box;
  return server?.type === "stdio" ? server.env.TOKEN : unusable.box?.problems.join();
}

describe("a variable of the config", () => {
  test("is a secret of the project, then of the user, then of the environment", async () => {
    using folder = makeProject();
    const env = { TOKEN: "from the environment" };
    await folder.store.set({ name: "TOKEN", project: "/another" }, "of another project");
    expect(await tokenIn(folder, env)).toBe("from the environment");
    await folder.store.set({ name: "TOKEN" }, "of the user");
    expect(await tokenIn(folder, env)).toBe("of the user");
    await folder.store.set({ name: "TOKEN", project: folder.real }, "of the project");
    expect(await tokenIn(folder, env)).toBe("of the project");
    // The one stored last.
    await folder.store.set({ name: "TOKEN" }, "of the user again");
    expect(await tokenIn(folder, env)).toBe("of the project");
    await folder.store.remove({ name: "TOKEN", project: folder.real });
    expect(await tokenIn(folder, env)).toBe("of the user again");
  });

  test("is a secret of the main worktree in worktrees that it names", async () => {
    using main = makeProject();
    using linked = makeProject();
    const store = linked.store;
    await store.set({ name: "TOKEN", project: main.real }, "of the main worktree");
    writeFileSync(join(linked.path, ".git"), `gitdir: ${main.path}/.git/worktrees/second\n`);
    expect(await tokenIn(linked)).toContain("the variable TOKEN is not set");

    const known = join(main.path, ".git", "worktrees", "second");
    mkdirSync(known, { recursive: true });
    writeFileSync(join(known, "gitdir"), `${main.path}/elsewhere/.git\n`);
    expect(await tokenIn(linked)).toContain("the variable TOKEN is not set");
    writeFileSync(join(known, "gitdir"), `${linked.path}/.git\n`);
    expect(await tokenIn(linked)).toBe("of the main worktree");
    await store.set({ name: "TOKEN" }, "of the user");
    expect(await tokenIn(linked)).toBe("of the main worktree");
    await store.set({ name: "TOKEN", project: linked.real }, "of the worktree");
    expect(await tokenIn(linked)).toBe("of the worktree");
  });

  test("from the secrets is removed from logs, wherever it is used", async () => {
    using folder = makeConfigFolder({
      "guildhall.json": { mcpServers: { box: { command: `\${PROGRAM}` } } },
    });
    await folder.store.set({ name: "PROGRAM" }, "a-secret-program");
    expect((await folder.load()).secrets).toContain("a-secret-program");
  });

  test("whose secret cannot be read does not take the environment's value", async () => {
    using folder = makeProject();
    await folder.store.set({ name: "TOKEN" }, "of the user");
    writeFileSync(join(folder.path, "secrets", "key"), "k".repeat(32), { mode: 0o600 });
    expect(await tokenIn(folder, { TOKEN: "from the environment" })).toMatch(
      /^env\.TOKEN: the variable TOKEN is a secret that cannot be read: .* cannot be decrypted.*; run guildhall secret set TOKEN/,
    );
  });

  test("whose secret cannot be read does not take the default", async () => {
    using folder = makeConfigFolder({
      "guildhall.json": {
        mcpServers: { box: { command: "box", env: { TOKEN: `\${TOKEN:-public}` } } },
      },
    });
    expect(await tokenIn(folder)).toBe("public");
    await folder.store.set({ name: "TOKEN" }, "of the user");
    writeFileSync(join(folder.path, "secrets", "key"), "k".repeat(32), { mode: 0o600 });
    expect(await tokenIn(folder)).toContain("TOKEN is a secret that cannot be read");
  });

  test("that a stricter rule binds to the environment may come from the user's secrets too", async () => {
    using folder = makeConfigFolder({
      "guildhall.json": {
        mcpServers: { box: { command: "box", env: { HTTPS_PROXY: `\${HTTPS_PROXY}` } } },
      },
    });
    await folder.store.set({ name: "HTTPS_PROXY" }, "http://me:pass@proxy.example.com");
    expect((await folder.load({ env: { HTTPS_PROXY: "http://other" } })).unusable).toEqual({});
  });
});

test("a hall notices a secret that is set, changed and removed", async () => {
  using folder = makeProject();
  const seen: string[] = [];
  const watching = watchConfig(
    () => folder.load(),
    {
      changed: ({ config, unusable }) => {
        const server = config.mcpServers.box;
        seen.push(
          server?.type === "stdio" ? String(server.env.TOKEN) : Object.keys(unusable).join(),
        );
      },
      refused: (error) => void seen.push(error.message),
    },
    { current: await folder.load(), debounceMs: 10 },
  );
  try {
    await folder.store.set({ name: "TOKEN" }, "first");
    await until(() => seen.length === 1, "the secret is seen");
    await folder.store.set({ name: "TOKEN" }, "second");
    await until(() => seen.length === 2, "the new value is seen");
    await folder.store.remove({ name: "TOKEN" });
    await until(() => seen.length === 3, "the removal is seen");
    expect(seen).toEqual(["first", "second", "box"]);
  } finally {
    watching.close();
  }
});
