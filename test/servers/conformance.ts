import { HallError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type {
  CallContext,
  ListKind,
  Prompt,
  PromptSource,
  Resource,
  ResourceSource,
  Toolkit,
} from "../../src/tool.ts";
import { type Act, createActs, dynamicAct, elicit, png, readField } from "./conformance-tools.ts";

/** Everything the official conformance suite asks of a server, under the names it uses. */
export function createConformanceToolkit(): Toolkit {
  const listeners = new Set<(kind: ListKind) => void>();
  const watchers = new Set<() => void>();
  const shown = { tool: false, prompt: false };
  let updates = 0;

  const acts = new Map<string, Act>(
    [
      ...createActs({
        changeTools: () => toggle("tool", "tools"),
        changePrompts: () => toggle("prompt", "prompts"),
        updateResource() {
          updates++;
          for (const watcher of watchers) watcher();
        },
      }),
      dynamicAct,
    ].map((act) => [act.tool.name, act]),
  );

  function toggle(what: keyof typeof shown, kind: ListKind): void {
    shown[what] = !shown[what];
    for (const listener of listeners) listener(kind);
  }

  return {
    id: "conformance",
    prefix: "",
    async list() {
      const tools = [...acts.values()].map(({ tool }) => tool);
      return shown.tool ? tools : tools.filter((tool) => tool !== dynamicAct.tool);
    },
    async call(tool, args, context) {
      const act = acts.get(tool.name);
      if (!act) throw new HallError("NOT_FOUND", `there is no tool "${tool.name}"`);
      return act.run(args, context);
    },
    health: async () => ({ state: "available" }),
    close: async () => listeners.clear(),
    resources: createResources({ updates: () => updates, watchers }),
    prompts: createPrompts(() => shown.prompt),
    complete: async (_reference, argument) => {
      const values = ["paris", "park", "party", "test", "testing"].filter((value) =>
        value.startsWith(String(argument.value)),
      );
      return { completion: { values, total: values.length, hasMore: false } };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const resources: readonly Resource[] = [
  {
    uri: "test://static-text",
    name: "Static text",
    description: "Text that never changes",
    mimeType: "text/plain",
  },
  {
    uri: "test://static-binary",
    name: "Static binary",
    description: "A picture that never changes",
    mimeType: "image/png",
  },
  {
    uri: "test://watched-resource",
    name: "Watched",
    description: "Changes when it is told to",
    mimeType: "text/plain",
  },
];

const templates: readonly JsonObject[] = [
  {
    uriTemplate: "test://template/{id}/data",
    name: "Template",
    description: "Data for any id",
    mimeType: "application/json",
  },
];

const templateUri = /^test:\/\/template\/([^/]+)\/data$/;

function createResources({
  updates,
  watchers,
}: {
  updates(): number;
  readonly watchers: Set<() => void>;
}): ResourceSource {
  return {
    list: async () => resources,
    templates: async () => templates,
    covers: (uri) => templateUri.test(uri),
    async read(uri) {
      switch (uri) {
        case "test://static-text":
          return {
            contents: [
              {
                uri,
                mimeType: "text/plain",
                text: "This is the content of the static text resource.",
              },
            ],
          };
        case "test://static-binary":
          return { contents: [{ uri, mimeType: "image/png", blob: png }] };
        case "test://watched-resource":
          return {
            contents: [{ uri, mimeType: "text/plain", text: `Updated ${updates()} times.` }],
          };
      }
      const id = templateUri.exec(uri)?.[1];
      if (id === undefined)
        throw new HallError("NOT_FOUND", `Resource not found: ${uri}`, { details: { uri } });
      const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      return { contents: [{ uri, mimeType: "application/json", text }] };
    },
    watch(uri, listener) {
      if (uri !== "test://watched-resource") return () => {};
      // Each subscription is its own, even when two share a listener.
      const watcher = () => listener();
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

interface Script {
  readonly prompt: Prompt;
  speak(
    args: Readonly<Record<string, string>>,
    context: CallContext,
  ): Promise<readonly JsonObject[]>;
}

const scripts: readonly Script[] = [
  {
    prompt: { name: "test_simple_prompt", description: "A simple prompt" },
    speak: async () => [text("This is a simple prompt for testing.")],
  },
  {
    prompt: {
      name: "test_prompt_with_arguments",
      description: "A prompt with two arguments",
      arguments: [
        required("arg1", "First test argument"),
        required("arg2", "Second test argument"),
      ],
    },
    speak: async ({ arg1, arg2 }) => [
      text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
    ],
  },
  {
    prompt: {
      name: "test_prompt_with_embedded_resource",
      description: "A prompt with a resource inside",
      arguments: [required("resourceUri", "URI of the resource to embed")],
    },
    speak: async ({ resourceUri }) => [
      {
        type: "resource",
        resource: {
          uri: resourceUri,
          mimeType: "text/plain",
          text: "Embedded resource content for testing.",
        },
      },
      text("Please process the embedded resource above."),
    ],
  },
  {
    prompt: { name: "test_prompt_with_image", description: "A prompt with an image" },
    speak: async () => [
      { type: "image", data: png, mimeType: "image/png" },
      text("Please analyze the image above."),
    ],
  },
  {
    prompt: {
      name: "test_input_required_result_prompt",
      description: "A prompt that asks the user first",
    },
    async speak(_args, { ask }) {
      const { user_context } = await ask({
        user_context: elicit("What context should the prompt use?", {
          context: { type: "string" },
        }),
      });
      return [text(`Use this context: ${readField(user_context, "context")}`)];
    },
  },
];

/** Comes and goes when the list is told to change. */
const dynamicScript: Script = {
  prompt: { name: "test_dynamic_prompt", description: "Is there only some of the time" },
  speak: async () => [text("Still here.")],
};

function createPrompts(isDynamicShown: () => boolean): PromptSource {
  return {
    list: async () =>
      (isDynamicShown() ? [...scripts, dynamicScript] : scripts).map(({ prompt }) => prompt),
    async get(name, args, context) {
      const script = [...scripts, dynamicScript].find(({ prompt }) => prompt.name === name);
      if (!script) throw new HallError("NOT_FOUND", `there is no prompt "${name}"`);
      const spoken = await script.speak(args, context);
      return {
        description: script.prompt.description,
        messages: spoken.map((content) => ({ role: "user", content })),
      };
    },
  };
}

function required(name: string, description: string): NonNullable<Prompt["arguments"]>[number] {
  const argument = { name, description, required: true };
  return argument;
}

function text(value: string): JsonObject {
  return { type: "text", text: value };
}
