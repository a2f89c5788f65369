import { once } from "node:events";
import { connect } from "node:net";

/**
 * One WebSocket made by hand: frames are masked before the clock runs, counted while it runs, read
 * when it has stopped.
 */
export async function openSocket(port) {
  const socket = connect(port, "127.0.0.1").setNoDelay(true);
  /** Called with the frames of one chunk. */
  let onFrames = () => {};
  let held = Buffer.alloc(0);
  let failure;
  let wake = () => {};
  const fail = (error) => {
    failure ??= error;
    wake();
  };
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the socket was closed")));
  await once(socket, "connect");
  const key = Buffer.from("a key for a bench").subarray(0, 16).toString("base64");
  socket.write(
    `GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  );
  const [hello] = await once(socket, "data");
  if (!hello.toString().startsWith("HTTP/1.1 101") || !hello.toString().endsWith("\r\n\r\n"))
    throw new Error(`no WebSocket: ${hello}`);
  socket.on("data", (chunk) => {
    held = held.length > 0 ? Buffer.concat([held, chunk]) : chunk;
    const payloads = [];
    for (let frame = readFrame(held); frame; frame = readFrame(held)) {
      held = held.subarray(frame.length);
      if (frame.kind === text) payloads.push(frame.payload);
      else if (frame.kind === ping) socket.write(Buffer.from([pong, 0x80, 0, 0, 0, 0]));
      else fail(new Error(`an unexpected frame: ${frame.kind.toString(16)}`));
    }
    if (payloads.length > 0) onFrames(payloads);
  });

  return {
    notify: (message) => void socket.write(writeFrame(message)),

    /**
     * All requests, at most `depth` unanswered; what one chunk of answers frees goes out in one
     * write. Resolves with the ms of all.
     */
    async pipeline(requests, depth) {
      const frames = requests.map(({ message }) => writeFrame(message));
      const answers = [];
      let sent = 0;
      const refill = () => {
        const from = sent;
        sent = Math.min(frames.length, answers.length + depth);
        if (sent > from)
          socket.write(sent === from + 1 ? frames[from] : Buffer.concat(frames.slice(from, sent)));
      };
      const done = new Promise((resolve) => {
        wake = resolve;
      });
      onFrames = (payloads) => {
        answers.push(...payloads);
        if (answers.length >= frames.length) wake();
        else refill();
      };
      if (failure) throw failure;
      const sentAt = performance.now();
      refill();
      await done;
      const ms = performance.now() - sentAt;
      if (failure) throw failure;
      check(requests, answers);
      return ms;
    },

    close() {
      socket.removeAllListeners("close");
      socket.destroy();
    },
  };
}

function check(requests, answers) {
  const byId = new Map(
    answers.map((payload) => JSON.parse(payload.toString())).map((answer) => [answer.id, answer]),
  );
  if (answers.length !== requests.length)
    throw new Error(`${answers.length} answers to ${requests.length} requests`);
  for (const { message, accept } of requests) {
    const answer = byId.get(message.id);
    if (!answer?.result || !accept(answer.result))
      throw new Error(`a wrong answer to ${JSON.stringify(message)}: ${JSON.stringify(answer)}`);
  }
}

// First bytes of whole frames.
const text = 0x81;
const ping = 0x89;
const pong = 0x8a;
const mask = Buffer.from([0x37, 0xfa, 0x21, 0x3d]);

/** A masked text frame of up to 64 KiB. */
function writeFrame(message) {
  const payload = Buffer.from(JSON.stringify(message));
  const head =
    payload.length < 126
      ? Buffer.from([text, 0x80 | payload.length])
      : Buffer.from([text, 0x80 | 126, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([head, mask, payload.map((byte, i) => byte ^ mask[i % 4])]);
}

/** The first whole frame of some bytes, of up to 64 KiB. */
function readFrame(bytes) {
  if (bytes.length < 2) return undefined;
  const isLong = bytes[1] === 126;
  if (isLong && bytes.length < 4) return undefined;
  const start = isLong ? 4 : 2;
  const length = start + (isLong ? bytes.readUInt16BE(2) : bytes[1]);
  return bytes.length < length
    ? undefined
    : { kind: bytes[0], payload: bytes.subarray(start, length), length };
}
