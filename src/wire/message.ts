import { isAscii, isUtf8 } from "node:buffer";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Limits } from "./channel.ts";

/** A string stays a string and a number a number: `"1"` and `1` are two requests. */
export type Id = string | number;

export interface Request {
  readonly kind: "request";
  /** The progress token of the request on whose stream it came, where the transport knows it. */
  readonly owner?: number;
  readonly id: Id;
  readonly method: string;
  readonly params: JsonObject | undefined;
}
export interface Notification {
  readonly kind: "notification";
  /** As in a request. */
  readonly owner?: number;
  readonly method: string;
  readonly params: JsonObject | undefined;
}
/** The answer to a request of ours. `bad` if it is neither a result nor an error. */
export interface Answer {
  readonly kind: "answer";
  /** Undefined when unreadable: nobody waits for such an answer, and an answer is never answered. */
  readonly id: Id | undefined;
  readonly outcome:
    | { readonly result: unknown }
    | { readonly error: RpcError }
    | { readonly bad: string };
}
/** Not a message. `id` is there when it could be read, so that the sender learns which one it was. */
export interface Invalid {
  readonly kind: "invalid";
  readonly id: Id | undefined;
  /** Set when it may have been an answer to a request of ours with this id. */
  readonly answerId?: Id | undefined;
  readonly code: "PARSE" | "INVALID_REQUEST" | "INVALID_PARAMS";
  readonly reason: string;
}
export type Message = Request | Notification | Answer | Invalid;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Methods that are notifications even when a sender writes `"id": null` on them. */
export type IsNotification = (method: string) => boolean;

/** Bytes to one message, or to the messages of a batch. Never throws. */
export function parseFrame(
  bytes: Buffer,
  limits: Limits,
  isNotification: IsNotification,
  text: string = decodeFrame(bytes),
): Message | readonly Message[] {
  // Decoding puts U+FFFD where bytes were invalid, so only a text that has one needs the exact check.
  if (text.includes("\ufffd") && !isUtf8(bytes))
    return unreadable("PARSE", "not valid UTF-8", text);
  const fault = findFault(text, limits);
  if (fault) return unreadable("INVALID_REQUEST", fault, text);
  // Programs print other things as well: for each such line, throwing would take longer than all else.
  if (!jsonBegin.test(text)) return unreadable("PARSE", "not valid JSON", text);
  const longResultAt = text.length >= longText ? findLastResult(text, lastKeyAt) : -1;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unreadable("PARSE", "not valid JSON", text);
  }
  if (Array.isArray(value)) return value.map((item) => classify(item, isNotification));
  if (longResultAt !== -1 && isObject(value) && isObject(value.result))
    writtenAs.set(value.result, text.slice(longResultAt, text.lastIndexOf("}")));
  return classify(value, isNotification);
}

const jsonBegin = /^\s*[[{"\d\-tfn]/;

/** Long ones are mostly plain ASCII, and as that they are read three times as fast. */
export function decodeFrame(bytes: Buffer): string {
  return bytes.toString(bytes.length >= longText && isAscii(bytes) ? "latin1" : "utf8");
}

/**
 * The id and the result of a short answer in the form that most servers write, without parsing it. If the
 * result is JSON, so is the answer. Undefined for everything else.
 */
export function splitAnswer(
  text: string,
): { readonly id: number; readonly json: string } | undefined {
  if (text.length >= longText || text.includes("\ufffd")) return undefined;
  const begun = answerBegin.exec(text);
  if (begun && text.endsWith("}"))
    return { id: Number(begun[1]), json: text.slice(begun[0].length, -1) };
  // As the TypeScript SDK writes it.
  if (!text.startsWith(resultFirst)) return undefined;
  const ended = answerEnd.exec(text.slice(-answerEndLength));
  return ended
    ? { id: Number(ended[1]), json: text.slice(resultFirst.length, -ended[0].length) }
    : undefined;
}

const answerBegin = /^\{"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14}),"result":/;
const resultFirst = '{"result":';
const answerEnd = /,"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14})\}$/;
const answerEndLength = 40;

/**
 * The text from which a long result was parsed. Relaying it sends this text instead of serialising the result
 * again, which would be most of the work for a megabyte. So results must not be changed in place: make a copy.
 */
const writtenAs = new WeakMap<object, string>();
const longText = 65_536;

/** A copy of a result with one more field. A long result keeps its text, with the field put in front. */
export function addField<T extends object>(result: T, key: string, value: boolean): T {
  // Object.assign: on Node 20 a spread followed by a field makes a new hidden class each time.
  const added: T = Object.assign({}, result, { [key]: value });
  const text = writtenAs.get(result);
  if (text !== undefined)
    writtenAs.set(added, `{"${key}":${value},${text.slice(text.indexOf("{") + 1)}`);
  return added;
}

/**
 * Where the value of `result` begins when it is the last key of a message on one line, as nearly
 * everybody writes it; else -1.
 */
function findLastResult(text: string, keyAt: number): number {
  const prefix = '"result":';
  if (keyAt === -1 || !text.startsWith(prefix, keyAt)) return -1;
  // Over HTTP a message may be laid out for the eye; on a line it must not be.
  return text.includes("\n") || text.includes("\r") ? -1 : keyAt + prefix.length;
}

function classify(value: unknown, isNotification: IsNotification): Message {
  if (!isObject(value)) return invalid("INVALID_REQUEST", "a message is a JSON object");
  const { id, method } = value;
  const params = value.params ?? undefined;
  const hasId = id !== undefined;
  const readableId = isId(id) ? id : undefined;
  if (method === undefined && ("result" in value || "error" in value))
    return classifyAnswer(value, readableId);
  if (value.jsonrpc !== "2.0")
    return invalid("INVALID_REQUEST", 'jsonrpc must be "2.0"', readableId);
  if (typeof method !== "string" || method === "") {
    // If a request of ours with this id is pending, this counts as its answer, although it is neither a result
    // nor an error.
    return {
      ...invalid("INVALID_REQUEST", "method must be a non-empty string", readableId),
      answerId: method === undefined ? readableId : undefined,
    };
  }
  if (params !== undefined && !isObject(params))
    return invalid(
      hasId ? "INVALID_PARAMS" : "INVALID_REQUEST",
      "params must be an object",
      readableId,
    );
  if (!hasId || (id === null && isNotification(method)))
    return { kind: "notification", method, params };
  if (readableId === undefined)
    return invalid(
      "INVALID_REQUEST",
      `id must be a whole number below 2^53 or a string of at most ${idBytesMax} bytes`,
    );
  return { kind: "request", id: readableId, method, params };
}

function classifyAnswer(value: JsonObject, id: Id | undefined): Message {
  if (value.jsonrpc !== "2.0")
    return { kind: "answer", id, outcome: { bad: 'jsonrpc must be "2.0"' } };
  const hasResult = "result" in value;
  if (hasResult === "error" in value)
    return { kind: "answer", id, outcome: { bad: "both result and error" } };
  if (hasResult) return { kind: "answer", id, outcome: { result: value.result } };
  const { error } = value;
  if (!isObject(error) || !Number.isInteger(error.code) || typeof error.message !== "string") {
    return { kind: "answer", id, outcome: { bad: "error without code and message" } };
  }
  return { kind: "answer", id, outcome: { error: error as unknown as RpcError } };
}

function invalid(code: Invalid["code"], reason: string, id?: Id): Invalid {
  return { kind: "invalid", id, code, reason };
}

function unreadable(code: Invalid["code"], reason: string, text: string): Invalid {
  const { id, isRequest } = readEdges(`${text.slice(0, edgeLength)} ${text.slice(-edgeLength)}`);
  return {
    kind: "invalid",
    id: undefined,
    answerId: isRequest ? undefined : id,
    code,
    reason,
  };
}

const edgeLength = 512;
const shortMember = /"(?:jsonrpc|id|method)"\s*:\s*(?:"[^"\\]*"|-?\d+)/.source;
/** Some implementations write the short members of a message before the long one, others after it. */
const firstMembers = new RegExp(`^\\s*\\{\\s*((?:${shortMember}\\s*,\\s*)*(?:"method")?)`);
const lastMembers = new RegExp(`((?:,\\s*${shortMember}\\s*)+)\\}\\s*$`);

/** Reads the beginning and end of a message that is too long to be read whole. */
export function readEdges(edges: string): { id: Id | undefined; isRequest: boolean } {
  const first = firstMembers.exec(edges)?.[1] ?? "";
  const last = lastMembers.exec(edges)?.[1] ?? "";
  // Several messages on one line end with members of another one.
  const members = first.includes('"id"') ? first : `${first}${last}`;
  const [, text, digits] = /"id"\s*:\s*(?:"([^"]*)"|(-?\d+))/.exec(members) ?? [];
  const id = digits === undefined ? text : Number(digits);
  return { id: isId(id) ? id : undefined, isRequest: members.includes('"method"') };
}

/** As `Receiver.oversize` takes it. */
export function edgesOf(bytes: Buffer): string {
  const end = Math.max(0, bytes.length - edgeLength);
  return `${bytes.toString("utf8", 0, edgeLength)} ${bytes.toString("utf8", end)}`;
}

const idBytesMax = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const controlCharacter = /[\u0000-\u001f\u007f]/;

export function isId(id: unknown): id is Id {
  if (typeof id === "number") return Number.isSafeInteger(id);
  return (
    typeof id === "string" && Buffer.byteLength(id) <= idBytesMax && !controlCharacter.test(id)
  );
}

/** How an answer without a readable id is written: older peers expect null, newer schemas forbid it. */
export type UnreadableId = "null" | "omit";

/** A result that is JSON text already: a long list is written once and sent many times. */
export class Prepared {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Throws where JSON.stringify does: cycles, bigints, a `toJSON` that throws. */
export function resultFrame(id: Id, result: unknown): string {
  const body =
    result instanceof Prepared
      ? result.text
      : (isObject(result) && writtenAs.get(result)) || JSON.stringify(result);
  if (body === undefined) throw new TypeError(`${typeof result} is not JSON`);
  return `{"jsonrpc":"2.0","id":${typeof id === "number" ? id : JSON.stringify(id)},"result":${body}}`;
}

export function errorFrame(
  id: Id | undefined,
  error: RpcError,
  unreadableId: UnreadableId,
): string {
  const isOmitted = id === undefined && unreadableId === "omit";
  const idPart = isOmitted ? "" : `"id":${JSON.stringify(id ?? null)},`;
  return `{"jsonrpc":"2.0",${idPart}"error":${JSON.stringify(error)}}`;
}

export function requestFrame(id: Id, method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

/** The params of a relayed `tools/call`: its `_meta` has a progress token of ours. */
export interface CallParams {
  readonly name: string;
  readonly _meta: JsonObject & { readonly progressToken: number };
}

/** The frame of `tools/call` with arguments that are JSON text already. */
export function callFrame(id: number, { name, _meta }: CallParams, args: string): string {
  const others = `"name":${JSON.stringify(name)},"_meta":${writeMeta(_meta)}`;
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"arguments":${args},${others}}}`;
}

/** Nearly always there is only a progress token, which is written faster without V8's general writer. */
function writeMeta(meta: CallParams["_meta"]): string {
  for (const key in meta) if (key !== "progressToken") return JSON.stringify(meta);
  return `{"progressToken":${meta.progressToken}}`;
}

export function notificationFrame(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}

/** Bytes of a frame against a limit, counting them only when the characters leave it open. */
export function isLonger(frame: string, bytesMax: number): boolean {
  if (frame.length * 3 <= bytesMax) return false;
  return frame.length > bytesMax || Buffer.byteLength(frame) > bytesMax;
}

/**
 * One pass over a message before JSON.parse sees it, for the three things JSON.parse does not report:
 * how deep it is, how many values it holds, and whether a key that decides what happens is there twice.
 * Malformed text may pass; JSON.parse refuses it next.
 */
export function findFault(
  text: string,
  limits: Pick<Limits, "depthMax" | "nodesMax">,
): string | undefined {
  lastKeyAt = -1;
  let depth = 0;
  let nodes = 0;
  let isKey = false;
  let messageDepth = 1;
  let seen = 0;
  let paramsDepth = 0;
  let hasName = false;
  let key = "";
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    switch (code) {
      case quote: {
        const end = endOfString(text, i);
        if (!isKey) nodes++;
        else if (depth === messageDepth) {
          lastKeyAt = i;
          key = readKey(text, i, end);
          const bit = keyBit(key);
          if ((seen & bit) !== 0) return `the key "${key}" is there twice`;
          seen |= bit;
        } else if (depth === paramsDepth && readKey(text, i, end) === "name") {
          if (hasName) return 'the key "name" is there twice';
          hasName = true;
        }
        i = end;
        break;
      }
      case openBrace:
      case openBracket:
        nodes++;
        if (depth >= limits.depthMax) return `nested deeper than ${limits.depthMax} levels`;
        containers[++depth] = code;
        if (depth === 1 && code === openBracket) messageDepth = 2;
        else if (depth === messageDepth) {
          seen = 0;
          paramsDepth = 0;
        } else if (depth === messageDepth + 1) {
          paramsDepth = code === openBrace && key === "params" ? depth : 0;
          hasName = false;
        }
        isKey = code === openBrace;
        break;
      case closeBrace:
      case closeBracket:
        if (depth > 0) depth--;
        isKey = false;
        break;
      case comma:
        isKey = containers[depth] === openBrace;
        break;
      case colon:
        isKey = false;
        break;
      case space:
      case tab:
      case newline:
      case carriageReturn:
        break;
      default:
        nodes++;
        while (i + 1 < text.length && isScalar(text.charCodeAt(i + 1))) i++;
    }
    if (nodes > limits.nodesMax) return `more than ${limits.nodesMax} values`;
  }
  return undefined;
}

/** Where the last key of the message itself began, in the text that was scanned last: its value goes to the end. */
let lastKeyAt = -1;

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;
const colon = 0x3a;
const space = 0x20;
const tab = 0x09;
const newline = 0x0a;
const carriageReturn = 0x0d;

/** Which container is open at each depth. Shared: a scan is one synchronous pass. */
const containers: number[] = [];

/** Numbers and literals: letters, digits, `+ - .`; everything else ends them. */
function isScalar(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x2e ||
    code === 0x2d ||
    code === 0x2b
  );
}

function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return end;
  }
}

function readKey(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    // A broken escape: JSON.parse will refuse the whole message, with the better message.
    return raw;
  }
}

function keyBit(key: string): number {
  switch (key) {
    case "jsonrpc":
      return 1;
    case "id":
      return 2;
    case "method":
      return 4;
    case "params":
      return 8;
    case "result":
      return 16;
    case "error":
      return 32;
    default:
      return 0;
  }
}
