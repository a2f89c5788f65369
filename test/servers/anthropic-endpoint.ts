import {
  argumentsOf,
  type Form,
  type ModelEndpoint,
  pieces,
  type Script,
  type Spoken,
  startModel,
} from "./model-script.ts";

/** A model behind Anthropic's messages. */
export function startAnthropic(script: Script): Promise<ModelEndpoint> {
  return startModel(form, script);
}

const form: Form = {
  model: "anthropic/scripted",
  path: "/v1/messages",
  error: (message) => ({ type: "error", error: { type: "scripted_error", message } }),
  write: (reply, turn) => [
    event("message_start", {
      message: {
        id: `msg_${turn}`,
        type: "message",
        role: "assistant",
        model: "scripted",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 100, output_tokens: 1 },
      },
    }),
    ...blocksOf(reply, turn).flatMap(({ start, deltas }, index) => [
      event("content_block_start", { index, content_block: start }),
      ...deltas.map((delta) => event("content_block_delta", { index, delta })),
      event("content_block_stop", { index }),
    ]),
    event("message_delta", {
      delta: { stop_reason: reasonOf(reply), stop_sequence: null },
      usage: { output_tokens: 20 },
    }),
    event("message_stop", {}),
  ],
};

function blocksOf(
  { say = "", calls = [] }: Spoken,
  turn: number,
): { readonly start: object; readonly deltas: readonly object[] }[] {
  const words =
    say === ""
      ? []
      : [
          {
            start: { type: "text", text: "" },
            deltas: pieces(say).map((text) => ({ type: "text_delta", text })),
          },
        ];
  const asked = calls.map((call, index) => ({
    start: { type: "tool_use", id: `toolu_${turn}_${index}`, name: call.name, input: {} },
    deltas: pieces(argumentsOf(call)).map((piece) => ({
      type: "input_json_delta",
      partial_json: piece,
    })),
  }));
  return [...words, ...asked];
}

function reasonOf({ calls = [], stop }: Spoken): string {
  return stop === "length"
    ? "max_tokens"
    : stop === "filter"
      ? "refusal"
      : calls.length > 0
        ? "tool_use"
        : "end_turn";
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}
