import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "../../src/base/json.ts";

/** One turn of a scripted model. */
export type Reply =
  | {
      readonly say?: string;
      readonly calls?: readonly ScriptedCall[];
      readonly stop?: "length" | "filter";
    }
  /** An answer that is none. */
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly message?: string;
    }
  /** Says the beginning, then the line breaks. */
  | { readonly cut: string }
  /** Says the beginning, and nothing more for ever. */
  | { readonly stall: string };

export interface ScriptedCall {
  readonly name: string;
  /** Text goes out as it is, JSON or not. */
  readonly arguments: JsonObject | string;
}

/** Turn by turn; the last one stays. */
export type Script = readonly Reply[] | ((turn: number, request: JsonObject) => Reply);

/** A model on loopback that says what a test wants, in the form of some provider's API. */
export interface ModelEndpoint {
  /** As a config's baseUrl. */
  readonly url: string;
  /** `provider/name` for it. */
  readonly model: string;
  /** Every body that came, in order. */
  readonly requests: JsonObject[];
  readonly headers: IncomingHttpHeaders[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** How an API puts a turn on the wire. */
export interface Form {
  readonly model: string;
  readonly path: string;
  /** The whole turn as events, each as its text. */
  write(reply: Spoken, turn: number): readonly string[];
  error(message: string): JsonObject;
}

export type Spoken = Extract<Reply, { readonly calls?: unknown }>;

export async function startModel(form: Form, script: Script): Promise<ModelEndpoint> {
  const requests: JsonObject[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.url !== form.path) return void response.writeHead(404).end("{}");
      const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
      const turn = requests.push(body) - 1;
      headers.push(request.headers);
      const reply =
        typeof script === "function"
          ? script(turn, body)
          : (script[turn] ?? script.at(-1) ?? { say: "" });
      answer(response, form, reply, turn);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    model: form.model,
    requests,
    headers,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** In both forms three events end a turn. */
const endingEvents = 3;

function answer(response: ServerResponse, form: Form, reply: Reply, turn: number): void {
  if ("status" in reply) {
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(JSON.stringify(form.error(reply.message ?? "scripted")));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  if ("cut" in reply || "stall" in reply) {
    const events = form.write({ say: "cut" in reply ? reply.cut : reply.stall }, turn);
    response.write(events.slice(0, -endingEvents).join(""));
    if ("cut" in reply) setTimeout(() => response.destroy(), 20);
    return;
  }
  for (const event of form.write(reply, turn)) response.write(event);
  response.end();
}

/** Words in pieces, as models write them. */
export function pieces(text: string): readonly string[] {
  return text.match(/[\s\S]{1,12}/g) ?? [];
}

export function argumentsOf({ arguments: args }: ScriptedCall): string {
  return typeof args === "string" ? args : JSON.stringify(args);
}
