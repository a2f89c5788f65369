import { once } from "node:events";
import { connect } from "node:net";

/**
 * Keep-alive connections made by hand: while the clock runs the client writes bytes made before, and reads only as much
 * of an answer as tells its length. When the clock has stopped, every answer is parsed and checked.
 */
export async function openHttp(port, count) {
  const lines = await Promise.all(Array.from({ length: count }, () => openLine(port)));

  return {
    /** One request after the other on the first connection. Resolves with the ms of each. */
    async sequence(requests) {
      const times = [];
      const answers = [];
      for (const { bytes } of requests) {
        const sentAt = performance.now();
        answers.push(await lines[0].ask(bytes));
        times.push(performance.now() - sentAt);
      }
      check(requests, answers);
      return times;
    },

    /** All requests, one in flight on each connection. Resolves with the ms of all. */
    async flood(requests) {
      const answers = new Array(requests.length);
      let next = 0;
      const sentAt = performance.now();
      const work = async (line) => {
        while (next < requests.length) {
          const number = next++;
          answers[number] = await line.ask(requests[number].bytes);
        }
      };
      await Promise.all(lines.map(work));
      const ms = performance.now() - sentAt;
      check(requests, answers);
      return ms;
    },

    /** One request, its answer in full. */
    async ask(request) {
      const answer = readAnswer(await lines[0].ask(request.bytes));
      if (request.accept) check([request], [answer.bytes]);
      return answer;
    },

    close() {
      for (const line of lines) line.close();
    },
  };
}

/** The bytes of a POST. */
export function post(message, headers, accept) {
  const body = JSON.stringify(message);
  const fields = {
    Host: "127.0.0.1",
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    ...headers,
    "Content-Length": Buffer.byteLength(body),
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return {
    bytes: Buffer.from(`POST /mcp HTTP/1.1\r\n${head.join("")}\r\n${body}`),
    id: message.id,
    accept,
  };
}

function check(requests, answers) {
  for (const [i, { id, accept }] of requests.entries()) {
    const { status, headers, body } = readAnswer(answers[i]);
    const answer = messageIn({ headers, body });
    if (status !== 200 || answer.id !== id || !answer.result || !accept(answer.result))
      throw new Error(`a wrong answer to request ${id}: ${status} ${body}`);
  }
}

/** The message of a JSON body, or of the last event that has one. */
export function messageIn({ headers, body }) {
  const text = headers["transfer-encoding"] === "chunked" ? joinChunks(body) : body;
  if (text.startsWith("{")) return JSON.parse(text);
  const data = text.split(/\r?\n/).filter((line) => /^data: ?\{/.test(line));
  return JSON.parse(data.at(-1).replace(/^data: ?/, ""));
}

/** Of text in ASCII. */
function joinChunks(body) {
  let text = "";
  for (let at = 0; ; ) {
    const start = body.indexOf("\r\n", at) + 2;
    const length = Number.parseInt(body.slice(at, start), 16);
    if (!(length > 0)) return text;
    text += body.slice(start, start + length);
    at = start + length + 2;
  }
}

function readAnswer(bytes) {
  const end = bytes.indexOf("\r\n\r\n");
  const [start, ...fields] = bytes.latin1Slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    fields.map((field) => [
      field.slice(0, field.indexOf(":")).toLowerCase(),
      field.slice(field.indexOf(":") + 1).trim(),
    ]),
  );
  return { status: Number(start.split(" ")[1]), headers, body: bytes.utf8Slice(end + 4), bytes };
}

/** One connection with at most one request in flight. */
async function openLine(port) {
  const socket = connect(port, "127.0.0.1").setNoDelay(true);
  let held;
  let waiting;
  let failure;
  const fail = (error) => {
    failure ??= error;
    waiting?.reject(failure);
  };
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the connection was closed")));
  socket.on("data", (chunk) => {
    const bytes = held ? Buffer.concat([held, chunk]) : chunk;
    held = bytes;
    const length = lengthOf(bytes);
    if (length === undefined || bytes.length < length) return;
    held = undefined;
    if (!waiting || bytes.length > length)
      return fail(
        new Error(`an answer that nobody asked for: ${bytes.toString("latin1", 0, 500)}`),
      );
    const { resolve } = waiting;
    waiting = undefined;
    resolve(bytes);
  });
  await once(socket, "connect");
  return {
    ask(bytes) {
      if (failure) return Promise.reject(failure);
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(bytes);
      });
    },
    close() {
      socket.removeAllListeners("close");
      socket.destroy();
    },
  };
}

/** Bytes of the whole answer, once its head, or all of its chunks, are there. */
function lengthOf(bytes) {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = bytes.latin1Slice(0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return end + 4 + Number(length);
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return end + 4;
  const last = bytes.indexOf("\r\n0\r\n\r\n", end + 2);
  return last === -1 ? undefined : last + 7;
}
