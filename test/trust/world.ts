import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { Decision } from "../../src/gateway/audit.ts";
import type { HallOptions } from "../../src/hall/hall-options.ts";
import type { CallContext, ListKind, Outcome, Tool, Toolkit } from "../../src/tool.ts";
import { easingOf } from "../../src/trust/easing.ts";
import { type Ledger, openLedger } from "../../src/trust/ledger.ts";
import { pinOf } from "../../src/trust/pin.ts";
import { proposeMark, reviewServer } from "../../src/trust/review.ts";
import type { TrustOptions } from "../../src/trust/trust.ts";
import type { RawClient } from "../servers/client.ts";
import { type Door, openDoor } from "../servers/door.ts";
import { createMemoryClient } from "../servers/memory-client.ts";
import { text } from "../servers/toolkits.ts";

/**
 * A hall with tools that read what strangers wrote and tools that do harm. Servers are toolkits
 * that say they are upstreams, so that no process is in the way; what was really done is in `ran`.
 */
export interface World {
  readonly door: Door;
  readonly ledger: Ledger;
  /** Harm that was done, as `toolkit.tool`. */
  readonly ran: string[];
  readonly decisions: Decision[];
  readonly web: ServerStub;
  readonly files: ServerStub;
  readonly mail: ServerStub;
  readonly shop: ServerStub;
  connect(capabilities?: JsonObject): Promise<RawClient>;
  /** Reviews web, files and mail as they are now. */
  reviewAgain(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A server whose definitions a test changes as it likes. */
export interface ServerStub extends Toolkit {
  tools: Tool[];
  /** Says that the list has changed, as a server does that was started again; resolves when the hall has read it. */
  changed(): Promise<void>;
}

export interface WorldOptions extends Omit<Partial<TrustOptions>, "ledger"> {
  /** What the page says that a model reads. */
  readonly page?: string;
  /** Tools trusted beforehand, as `toolkit.tool`. Default: mail.send_email. */
  readonly trusted?: readonly string[];
  /** Further toolkits. */
  readonly toolkits?: readonly Toolkit[];
  /** What else the hall has. */
  readonly hall?: Pick<
    HallOptions,
    "agents" | "planner" | "workers" | "approvalLeft" | "capacities"
  >;
}

const anything = { type: "object" };

export async function openWorld({
  page = "nothing",
  trusted = ["mail.send_email"],
  hall = {},
  toolkits = [],
  ...options
}: WorldOptions = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-trust-"));
  const ledger = openLedger("/the/project", { folder, warn: () => {} });
  const ran: string[] = [];
  const decisions: Decision[] = [];
  const run = (name: string): string => {
    if (harmless.has(name)) return page;
    ran.push(name);
    return "done";
  };
  const serve = (id: string, tools: Tool[]): ServerStub =>
    createStub(id, tools, (tool) => run(`${id}.${tool}`));
  const harmless = new Set(["web.fetch_page", "files.read_file"]);
  const web = serve("web", [
    {
      name: "fetch_page",
      description: "Gets a page",
      inputSchema: { type: "object", properties: { url: { type: "string" } } },
    },
  ]);
  const files = serve("files", [
    { name: "read_file", description: "Reads", inputSchema: anything },
    {
      name: "delete_file",
      title: "Delete",
      description: "Deletes a file",
      inputSchema: { type: "object", properties: { path: { type: "string" } } },
      annotations: { destructiveHint: true },
    },
    { name: "write_file", description: "Writes a file", inputSchema: anything },
  ]);
  const mail = serve("mail", [{ name: "send_email", description: "Sends", inputSchema: anything }]);
  // Nobody has reviewed it, whatever it says of itself.
  const shop = serve("shop", [
    { name: "buy", description: "Buys", inputSchema: anything },
    {
      name: "look",
      description: "Looks",
      inputSchema: anything,
      annotations: { readOnlyHint: true, destructiveHint: false },
    },
  ]);
  const review = () =>
    Object.fromEntries(
      [web, files, mail].map(({ id, tools }) => {
        const eased = easingOf(id, options);
        const input = { previous: undefined, eased, trustSettings: options };
        const isDestructive = (tool: Tool) => proposeMark(id, tool, input).isDestructive;
        return [id, reviewServer({ source: "as it is", reached: id, eased, tools, isDestructive })];
      }),
    );
  const grants = [files, mail, web].flatMap(({ id, tools }) =>
    tools
      .filter(({ name }) => trusted.includes(`${id}.${name}`))
      .map((tool) => [`${id}.${tool.name}`, { grantedAt: 0, pin: pinOf(tool) }] as const),
  );
  await ledger.change((entries) => ({
    ...entries,
    servers: review(),
    grants: Object.fromEntries(grants),
  }));
  const door = await openDoor({
    ...hall,
    toolkits: [web, files, mail, shop, relay, ...toolkits],
    trust: { ledger, ...options },
    audit: async (decision) => void decisions.push(decision),
  });
  return {
    door,
    ledger,
    ran,
    decisions,
    web,
    files,
    mail,
    shop,
    async connect(capabilities = {}) {
      const client = createMemoryClient(door.hall);
      await client.greet("2025-11-25", capabilities);
      return client;
    },
    async reviewAgain() {
      await ledger.change((entries) => ({ ...entries, servers: review() }));
      await door.hall.trust?.refresh();
      for (const server of [web, files, mail]) await server.changed();
    },
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function createStub(id: string, tools: Tool[], run: (tool: string) => string): ServerStub {
  const listeners = new Set<(kind: ListKind) => void>();
  const stub: ServerStub = {
    id,
    source: "upstream",
    tools,
    async changed() {
      for (const listener of listeners) listener("tools");
      await new Promise((resolve) => setImmediate(resolve));
    },
    list: async () => stub.tools,
    call: async (tool) => text(run(tool.name)),
    health: async () => ({ state: "available" }),
    close: async () => {},
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return stub;
}

/**
 * Does a list of calls for its caller, one after the other, and keeps quiet about what fails: as an
 * agent or a program would.
 */
const relay: Toolkit = {
  id: "relay",
  list: async () => [
    {
      name: "steps",
      annotations: { readOnlyHint: true },
      inputSchema: { type: "object", properties: { steps: { type: "array" } } },
    },
  ],
  async call(_tool, { steps }, context): Promise<Outcome> {
    const said: string[] = [];
    for (const step of Array.isArray(steps) ? steps.filter(isObject) : [])
      said.push(await tryStep(step, context));
    return text(said.join("\n"));
  },
  health: async () => ({ state: "available" }),
  close: async () => {},
};

async function tryStep({ tool, args }: JsonObject, { call }: CallContext): Promise<string> {
  try {
    const { content } = (await call?.(String(tool), isObject(args) ? args : {})) ?? { content: [] };
    return JSON.stringify(content);
  } catch (error) {
    // The stub's master must not learn of it.
    return error instanceof Error ? error.name : "failed";
  }
}
