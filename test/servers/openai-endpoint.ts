import {
  argumentsOf,
  type Form,
  type ModelEndpoint,
  pieces,
  type Script,
  type Spoken,
  startModel,
} from "./model-script.ts";

/** A model behind OpenAI's chat completions, as Ollama, vLLM and many others serve it. */
export function startOpenAi(
  script: Script,
  provider = "openai-compatible",
): Promise<ModelEndpoint> {
  return startModel({ ...form, model: `${provider}/scripted` }, script);
}

const form: Form = {
  model: "openai-compatible/scripted",
  path: "/v1/chat/completions",
  error: (message) => ({ error: { message, type: "scripted_error", code: null } }),
  write: (reply, turn) => [
    ...deltasOf(reply, turn).map(writeChunk),
    writeChunk(ending(reply)),
    usage,
    "data: [DONE]\n\n",
  ],
};

function deltasOf({ say = "", calls = [] }: Spoken, turn: number): object[] {
  const words = pieces(say).map((content) => choice({ role: "assistant", content }));
  const asked = calls.flatMap((call, index) => {
    const [first = "", ...rest] = pieces(argumentsOf(call));
    const begun = {
      index,
      id: `call_${turn}_${index}`,
      type: "function",
      function: { name: call.name, arguments: first },
    };
    return [
      choice({ role: "assistant", tool_calls: [begun] }),
      ...rest.map((piece) => choice({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ];
  });
  return [...words, ...asked];
}

function ending({ calls = [], stop }: Spoken): object {
  const reason =
    stop === "length"
      ? "length"
      : stop === "filter"
        ? "content_filter"
        : calls.length > 0
          ? "tool_calls"
          : "stop";
  return { index: 0, delta: {}, finish_reason: reason };
}

function choice(delta: object): object {
  return { index: 0, delta, finish_reason: null };
}

function writeChunk(one: object): string {
  return `data: ${JSON.stringify({ id: "chat_1", object: "chat.completion.chunk", created: 1, model: "scripted", choices: [one] })}\n\n`;
}

const usage = `data: ${JSON.stringify({
  id: "chat_1",
  object: "chat.completion.chunk",
  created: 1,
  model: "scripted",
  choices: [],
  usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
})}\n\n`;
