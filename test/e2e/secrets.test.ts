import { spawn } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createLineReader } from "../../src/wire/stdio.ts";
import { RawClient } from "../servers/client.ts";
import { makeHome } from "../servers/home.ts";
import { until } from "../servers/until.ts";
import { callTool } from "../servers/upstreams.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const faulty = fileURLToPath(new URL("../servers/faulty.mjs", import.meta.url));
const canary = "canary-0123456789-canary";

test("a client from the desktop works once its variable is a secret, and nothing written has the value", async () => {
  const box = {
    command: "sh",
    args: ["-c", `echo "the key is $KEY" >&2; exec node ${faulty} whoami`],
    env: { KEY: `\${BOX_KEY}` },
  };
  using home = makeHome({
    "./guildhall.json": { mcpServers: { box } },
    "~/.config/guildhall/config.json": { trust: { tools: { "box.*": "safe" } } },
    // A client has its own name, and no variables of a shell.
    "~/Cursor": `#!/bin/sh\n"${process.execPath}" "${cli}" mcp\n`,
  });
  chmodSync(home.locate("~/Cursor"), 0o755);
  const built = await home.run(cli, ["build", "--yes"], { BOX_KEY: canary });
  expect(built.code).toBe(0);

  const child = spawn(home.locate("~/Cursor"), { cwd: home.project, env: { ...home.env } });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let log = "";
  child.stderr.on("data", (bytes: Buffer) => {
    log += bytes;
  });
  try {
    const client = new RawClient((bytes) => void child.stdin.write(`${bytes}\n`));
    const read = createLineReader(Number.POSITIVE_INFINITY, {
      line: (bytes) => client.deliver(bytes.toString()),
      oversize() {},
    });
    child.stdout.on("data", read);
    await client.greet();
    const call = async (): Promise<string> => JSON.stringify(await callTool(client, "box.whoami"));
    const refused = await call();
    expect(refused).toMatch(
      /the variable BOX_KEY is not set: no secret of that name, and not in the environment of the hall \(process \d+, started by Cursor\)/,
    );
    expect(refused).toContain("guildhall secret set BOX_KEY");
    // The same from a shell that has the variable: it is the hall that lacks it.
    const called = await home.run(cli, ["call", "box.whoami"], { BOX_KEY: canary });
    expect(called.stdout + called.stderr).toMatch(/started\s+by\s+Cursor/);

    const set = await home.run(cli, ["secret", "set", "BOX_KEY"], {}, `${canary}\n`);
    expect(set).toMatchObject({
      code: 0,
      stdout: "BOX_KEY is set for this project, kept in an encrypted file\n",
    });
    await until(async () => (await call()).includes(canary), "the server has the key");

    const outputs = [set, built];
    for (const line of ["status", "logs box", "doctor", "secret list", "audit", "stats --json"])
      outputs.push(await home.run(cli, line.split(" ")));
    const said = outputs.map(({ stdout, stderr }) => stdout + stderr).join("");
    expect(said).toContain("the key is ***");
    expect(said + log).not.toContain(canary);

    await home.run(cli, ["secret", "remove", "BOX_KEY"]);
    await until(async () => (await call()).includes("is not set"), "the secret is gone");
  } finally {
    child.kill();
    await ended;
  }
  const written = Object.entries(home.files()).filter(([, text]) => text.includes(canary));
  expect(written.map(([file]) => file)).toEqual([]);
});

test("secrets are listed by name, and the user's are for all projects", async () => {
  using home = makeHome();
  await home.run(cli, ["secret", "set", "MINE", "--user"], {}, canary);
  await home.run(cli, ["secret", "set", "OURS"], {}, canary);
  const { stdout } = await home.run(cli, ["secret", "list", "--json"]);
  expect(JSON.parse(stdout) as JsonObject[]).toMatchObject([
    { name: "OURS", scope: "project", project: home.project, kept: "file" },
    { name: "MINE", scope: "user", kept: "file" },
  ]);
  expect((await home.run(cli, ["secret", "list"])).stdout).toMatch(/^OURS +project +an enc/m);
  expect(await home.run(cli, ["secret", "remove", "MINE"])).toMatchObject({
    code: 66,
    stderr: expect.stringContaining('unknown secret of this project "MINE" (expected: OURS)'),
  });
});

test("a person's own secret is set, listed and removed, where a server has one for each person", async () => {
  const box = { command: "node", env: { KEY: `\${BOX_KEY}` } };
  using home = makeHome({ "./guildhall.json": { mcpServers: { box } } });
  const set = ["secret", "set", "BOX_KEY"];
  const person = ["--person", "anna@https://id.example"];
  await home.run(cli, set, {}, "of the hall\n");
  const refused = await home.run(cli, [...set, ...person], {}, `${canary}\n`);
  expect(refused.stderr).toContain("no server uses BOX_KEY as a secret of each person");

  const perPerson = { mcpServers: { box: { ...box, perPerson: ["BOX_KEY"] } } };
  writeFileSync(home.locate("./guildhall.json"), JSON.stringify(perPerson));
  expect(await home.run(cli, [...set, ...person], {}, `${canary}\n`)).toMatchObject({
    code: 0,
    stdout:
      "BOX_KEY is set for anna@https://id.example in this project, kept in an encrypted file\n",
  });
  const owners = async (): Promise<unknown[]> => {
    const listed = await home.run(cli, ["secret", "list", "--json"]);
    return (JSON.parse(listed.stdout) as JsonObject[]).map((secret) => secret.person);
  };
  expect(await owners()).toEqual([undefined, "anna@https://id.example"]);
  await home.run(cli, ["secret", "remove", "BOX_KEY", ...person]);
  expect(await owners()).toEqual([undefined]);
});
