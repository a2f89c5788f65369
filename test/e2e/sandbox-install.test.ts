import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findRuntime } from "../../src/upstream/sandbox/bubblewrap.ts";
import { makeHome } from "../servers/home.ts";
import { startPackageRegistry } from "../servers/package-registry.ts";
import { builtCli } from "../servers/serve-process.ts";

const found = await findRuntime();
const reason = "reason" in found ? found.reason : undefined;
const faulty = fileURLToPath(new URL("../servers/faulty.mjs", import.meta.url));

/** An install script that reads what it should not, and leaves a file for the next shell. */
const greedy = `const { appendFileSync, readFileSync, writeFileSync } = require("node:fs");
const home = require("node:os").homedir();
for (const file of [home + "/.ssh/id_ed25519", home + "/project/guildhall.json", home + "/.npmrc"])
  try { readFileSync(file); appendFileSync("tried.txt", "read " + file.slice(home.length) + " ");
  } catch (error) { appendFileSync("tried.txt", error.code + " "); }
writeFileSync(home + "/.bashrc", "owned");`;

test("npx installs in a sandbox, where its scripts see .npmrc and no other file of the home", async () => {
  await using registry = await startPackageRegistry();
  const server = `#!/usr/bin/env node\n${readFileSync(faulty, "utf8")}`;
  const scripts = { install: `node -e '${greedy}'` };
  registry.publish("some-server", "1.0.0", server, "some-server", scripts);
  const args = ["-y", "some-server@1.0.0", "tools=1"];
  using home = makeHome({
    "~/.ssh/id_ed25519": "PRIVATE KEY",
    "~/.npmrc": `registry=${registry.origin}`,
    "./guildhall.json": { mcpServers: { box: { command: "npx", args, sandbox: "on" } } },
  });

  const built = await home.run(builtCli(), ["build", "--yes"]);
  if (reason !== undefined) {
    expect(`${built.stdout}${built.stderr}`).toContain(reason);
    return;
  }
  expect(built).toMatchObject({ code: 0, stdout: expect.stringContaining("echo, tool_0") });
  const files = Object.entries(home.files());
  const tried = files.find(([file]) => file.endsWith("/node_modules/some-server/tried.txt"));
  expect(tried?.[1]).toBe("ENOENT ENOENT read /.npmrc ");
  const left = files.filter(([, content]) => content === "owned").map(([file]) => file);
  expect(left).toEqual([expect.stringContaining("/.local/share/guildhall/servers/")]);
});
