import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { createLog } from "../../../src/base/log.ts";
import { Scope } from "../../../src/base/scope.ts";
import { openMcpConnection } from "../../../src/client/connection.ts";
import { createGuard } from "../../../src/upstream/guard.ts";
import { startProcess } from "../../../src/upstream/process.ts";
import type { SandboxDenial } from "../../../src/upstream/sandbox/denials.ts";
import { planBox } from "../../../src/upstream/sandbox/plan.ts";
import { createRuntime } from "../../../src/upstream/sandbox/policy.ts";
import { defaultLimits } from "../../../src/wire/channel.ts";
import { faulty } from "../../servers/upstreams.ts";

const hostile = fileURLToPath(new URL("../../servers/hostile.mjs", import.meta.url));
const findBoth = createRuntime();

test.each(["Perl", "Node"])(
  "with listeners by %s, a server reaches the hosts of its profile and no others, and those are named",
  async (opener) => {
    const runtime = async () => {
      const found = await findBoth();
      return opener === "Node" && "bwrap" in found ? { ...found, perl: undefined } : found;
    };
    const site = createServer((_request, response) => response.end("hello")).listen(0, "127.0.0.1");
    const other = createServer((_request, response) => response.end("secret")).listen(
      0,
      "127.0.0.1",
    );
    await Promise.all([once(site, "listening"), once(other, "listening")]);
    const [port, otherPort] = [site, other].map((it) => (it.address() as AddressInfo).port);
    const allow = [`localhost:${port}`, "api.example.com"];
    const config = {
      ...faulty(),
      args: [hostile],
      sandbox: { read: [], write: [], network: { allow }, memoryMb: 4_096 },
    };
    const denials: SandboxDenial[] = [];
    const policy = {
      decide: () => ({ kind: "box", learned: { read: [], write: [], hosts: [] } }) as const,
      denied: (_name: string, denial: SandboxDenial) => void denials.push(denial),
      runtime,
    };
    const found = await runtime();
    if ("reason" in found) {
      await expect(planBox("box", config, policy)).rejects.toThrow(found.reason);
      return;
    }
    const guard = createGuard();
    const box = await planBox("box", config, policy);
    const child = await startProcess(config, { limits: defaultLimits, guard, box }, new Scope());
    const scope = new Scope();
    const line = await openMcpConnection(child.channel, {
      limits: defaultLimits,
      log: createLog({ level: "silent" }),
      scope,
      prefers: "legacy",
      listChanged() {},
      resourceUpdated() {},
      asked() {},
      closed() {},
      junk() {},
      release: () => child.stop(),
    });
    const get = async (url: string): Promise<JsonObject> =>
      (await line.request(
        "tools/call",
        { name: "get_page", arguments: { url } },
        scope,
      )) as JsonObject;
    try {
      expect(await get(`http://localhost:${port}/`)).toMatchObject({
        content: [{ text: "hello" }],
      });
      expect(await get(`http://127.0.0.1:${port}/`)).toMatchObject({
        content: [{ text: "hello" }],
      });
      expect(await get(`http://localhost:${otherPort}/`)).toMatchObject({ isError: true });
      expect(await get("http://c2VjcmV0.attacker.test/")).toMatchObject({ isError: true });
      expect(denials).toEqual(
        expect.arrayContaining([{ kind: "host", what: "c2vjcmv0.attacker.test" }]),
      );
    } finally {
      await line.close();
      guard.close();
      site.close();
      other.close();
    }
  },
);
