/** A toolkit that has one of everything: every content kind, every question, every way to fail. */
import {
  type CallContext,
  type ErrorCode,
  HallError,
  type Outcome,
  type Question,
  type Tool,
  type Toolkit,
} from "../../src/index.ts";

type ListKind = "tools" | "resources" | "prompts";
type Args = Readonly<Record<string, unknown>>;

export interface Showcase extends Toolkit {
  /** Says that a list has changed. */
  change(kind: ListKind): void;
  /** Says that a resource has changed. */
  touch(uri: string): void;
}

export function createShowcase(): Showcase {
  const listeners = new Set<(kind: ListKind) => void>();
  const watchers = new Map<string, Set<() => void>>();
  const memory: Memory = { stopped: 0 };
  return {
    id: "showcase",
    list: async () => [...tools.values()].map(({ tool }) => tool),
    async call({ name }, args, context) {
      const found = tools.get(name);
      if (!found) throw new HallError("NOT_FOUND", `no tool ${name}`);
      return found.run(args, context, memory);
    },
    health: async () => ({ state: "available" }),
    close: async () => {},
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    change: (kind) => {
      for (const listener of listeners) listener(kind);
    },
    touch: (uri) => {
      for (const listener of watchers.get(uri) ?? []) listener();
    },
    resources: {
      list: async () => resources,
      templates: async () => [
        {
          uriTemplate: "showcase://notes/{name}",
          name: "notes",
          title: "Notes",
          description: "One note by name.",
          mimeType: "text/plain",
        },
        { uriTemplate: "showcase://fails/{code}", name: "fails" },
      ],
      covers: (uri) => /^showcase:\/\/(notes|fails)\//.test(uri),
      async read(uri, context) {
        if (uri === "showcase://blob")
          return { contents: [{ uri, mimeType: "image/png", blob: pixel }] };
        if (uri === "showcase://asks")
          return {
            contents: [{ uri, text: JSON.stringify(await context.ask({ user: askUser })) }],
          };
        if (uri.startsWith("showcase://fails/"))
          throw failure(uri.slice("showcase://fails/".length));
        return {
          contents: [
            {
              uri,
              mimeType: "text/plain",
              text: `text of ${uri}`,
              _meta: { "showcase/kept": true },
            },
          ],
        };
      },
      watch(uri, listener) {
        const set = watchers.get(uri) ?? new Set();
        watchers.set(uri, set.add(listener));
        return () => set.delete(listener);
      },
    },
    prompts: {
      list: async () => [
        {
          name: "greet",
          title: "Greet",
          description: "One message of every kind.",
          arguments: [{ name: "who", description: "Whom to greet.", required: true }],
        },
        { name: "asks" },
      ],
      async get(name, args, context) {
        if (name === "asks") await context.ask({ user: askUser });
        const messages = [
          { type: "text", text: `Hello ${args.who ?? "you"}` },
          ...everyContent.slice(1),
        ].map((content) => ({ role: "user", content }));
        return { description: "One message of every kind.", messages };
      },
    },
    complete: async (_reference, { value }) => ({
      completion: { values: [`${value}a`, `${value}b`], total: 2, hasMore: false },
    }),
  };
}

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Text first. Beyond 2024-11-05: audio from 2025-03-26, resource_link from 2025-06-18. */
const everyContent: readonly Readonly<Record<string, unknown>>[] = [
  { type: "text", text: "hello", annotations: { audience: ["user"], priority: 0.5 } },
  { type: "image", data: pixel, mimeType: "image/png" },
  { type: "audio", data: "UklGRgAAAABXQVZF", mimeType: "audio/wav" },
  {
    type: "resource",
    resource: { uri: "showcase://text", mimeType: "text/plain", text: "embedded" },
  },
  { type: "resource", resource: { uri: "showcase://blob", mimeType: "image/png", blob: pixel } },
  {
    type: "resource_link",
    uri: "showcase://text",
    name: "text",
    description: "The text.",
    mimeType: "text/plain",
  },
];

const resources = [
  {
    uri: "showcase://text",
    name: "text",
    title: "Text",
    description: "Plain text.",
    mimeType: "text/plain",
    size: 25,
    annotations: { audience: ["assistant"], priority: 1, lastModified: "2026-11-15T12:00:00Z" },
  },
  { uri: "showcase://blob", name: "blob", mimeType: "image/png" },
  { uri: "showcase://asks", name: "asks" },
];

const askUser: Question = {
  method: "elicitation/create",
  params: {
    message: "What is your name?",
    requestedSchema: {
      type: "object",
      properties: { name: { type: "string", title: "Name" }, age: { type: "integer", minimum: 0 } },
      required: ["name"],
    },
  },
};
const askUrl: Question = {
  method: "elicitation/create",
  params: {
    mode: "url",
    message: "Please sign in.",
    url: "https://example.com/sign-in",
    elicitationId: "sign-in-1",
  },
};
const askModel: Question = {
  method: "sampling/createMessage",
  params: {
    messages: [{ role: "user", content: { type: "text", text: "2 + 2?" } }],
    maxTokens: 10,
    modelPreferences: { hints: [{ name: "small" }] },
  },
};
const askModelWithTools: Question = {
  method: "sampling/createMessage",
  params: {
    ...askModel.params,
    tools: [{ name: "add", inputSchema: { type: "object" } }],
    toolChoice: { mode: "auto" },
  },
};
const askRoots: Question = { method: "roots/list" };

/** What one showcase remembers. */
interface Memory {
  /** How many `wait` calls were told to stop. */
  stopped: number;
}

interface Entry {
  readonly tool: Tool;
  run(args: Args, context: CallContext, memory: Memory): Promise<Outcome>;
}

const text = (value: unknown): Outcome => ({
  content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }],
});
const anyObject = { type: "object" };
const asks =
  (question: Question): Entry["run"] =>
  async (_args, { ask }) =>
    text(await ask({ q: question }));

function failure(code: unknown): HallError {
  const details: Partial<Record<ErrorCode, Readonly<Record<string, unknown>>>> = {
    UNSUPPORTED_VERSION: { supported: ["2026-07-28"], requested: "1999-01-01" },
    MISSING_CAPABILITY: { requiredCapabilities: { sampling: {} } },
    RATE_LIMITED: { retryAfterSeconds: 3 },
  };
  return new HallError(code as ErrorCode, `failed on purpose: ${code}`, {
    details: details[code as ErrorCode] ?? { field: "value" },
  });
}

const entries: readonly Entry[] = [
  {
    tool: {
      name: "content",
      title: "Every content",
      description: "One block of every kind.",
      inputSchema: anyObject,
      annotations: { title: "Content", readOnlyHint: true },
      icons: [{ src: "https://example.com/icon.png", mimeType: "image/png", sizes: ["48x48"] }],
      _meta: { "showcase/kept": true },
    },
    run: async () => ({ content: everyContent, _meta: { "showcase/kept": true } }),
  },
  {
    tool: {
      name: "structured",
      inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      outputSchema: {
        type: "object",
        properties: { double: { type: "number" } },
        required: ["double"],
      },
    },
    async run({ n, code }) {
      if (code) throw failure(code);
      return { ...text({ double: Number(n) * 2 }), structuredContent: { double: Number(n) * 2 } };
    },
  },
  {
    tool: {
      name: "numbers",
      description: "Structured content that is no object: new in 2026.",
      inputSchema: anyObject,
      outputSchema: { type: "array" },
    },
    run: async () => ({ ...text([1, 2, 3]), structuredContent: [1, 2, 3] }),
  },
  {
    tool: {
      name: "anything",
      description: "A schema that is no object: `true`.",
      inputSchema: { type: "object", properties: { anything: true } },
    },
    run: async ({ anything }) => text(anything ?? "nothing"),
  },
  {
    tool: { name: "progress", inputSchema: anyObject },
    async run(_args, { progress }) {
      for (const step of [1, 2, 3]) {
        progress({ progress: step, total: 3, message: `step ${step}` });
        // Clients drop progress that they read together with the answer.
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
      return text("done");
    },
  },
  {
    tool: { name: "log", inputSchema: anyObject },
    async run(_args, { log }) {
      log("debug", "quiet");
      log("warning", { what: "loud" }, "showcase");
      return text("logged");
    },
  },
  { tool: { name: "ask_user", inputSchema: anyObject }, run: asks(askUser) },
  { tool: { name: "ask_url", inputSchema: anyObject }, run: asks(askUrl) },
  { tool: { name: "ask_model", inputSchema: anyObject }, run: asks(askModel) },
  { tool: { name: "ask_model_with_tools", inputSchema: anyObject }, run: asks(askModelWithTools) },
  { tool: { name: "ask_roots", inputSchema: anyObject }, run: asks(askRoots) },
  {
    tool: { name: "ask_all", inputSchema: anyObject },
    run: async (_args, { ask }) =>
      text(await ask({ user: askUser, model: askModel, roots: askRoots })),
  },
  {
    tool: { name: "wait", description: "Until somebody stops it.", inputSchema: anyObject },
    run: (_args, { scope, progress }, memory) => {
      progress({ progress: 1 });
      scope.onCancel(() => memory.stopped++);
      return scope.race(new Promise<never>(() => {}));
    },
  },
  {
    tool: { name: "stopped", inputSchema: anyObject },
    run: async (_args, _context, { stopped }) => text(String(stopped)),
  },
  {
    tool: { name: "too_slow", inputSchema: anyObject, facts: { timeoutMs: 20 } },
    run: () => new Promise<never>(() => {}),
  },
  {
    tool: { name: "too_large", inputSchema: anyObject },
    run: async () => text("x".repeat(2_000_000)),
  },
  {
    tool: { name: "fails", inputSchema: anyObject },
    run: ({ code }) => Promise.reject(failure(code)),
  },
  {
    tool: { name: "throws", inputSchema: anyObject },
    run: () => Promise.reject(new TypeError("undefined is not a function")),
  },
  { tool: { name: "says_nothing", inputSchema: anyObject }, run: async () => ({}) as Outcome },
  {
    tool: { name: "says_error", inputSchema: anyObject },
    run: async () => ({ ...text("it did not work"), isError: true }),
  },
  {
    tool: {
      name: "breaks_promise",
      inputSchema: anyObject,
      outputSchema: { type: "object", required: ["x"] },
    },
    run: async () => text("no x"),
  },
  {
    tool: { name: "not_json", inputSchema: anyObject },
    run: async () => ({ content: [{ type: "text", text: 1n }] }),
  },
];
const tools = new Map(entries.map((entry) => [entry.tool.name, entry]));
