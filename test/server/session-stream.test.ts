import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { SessionStream } from "../../src/server/http/session-stream.ts";

const owner = { canPoll: () => false, ended: () => {}, forget: () => {} };
const options = {
  streamAfterMs: 1_000_000,
  pollAfterMs: 1_000_000,
  keepAliveMs: 1_000_000,
  bufferBytesMax: 1_000,
  stalledMsMax: 1_000_000,
};

/** A response whose socket never says that it was closed. */
function openResponse(): ServerResponse {
  return new ServerResponse(new IncomingMessage(new Socket()));
}

test("an answer that comes after its stream was closed is not written", () => {
  const stream = new SessionStream(1, [7], owner, options);
  const response = openResponse();
  stream.answerOn(response);
  stream.close();
  expect(response.writableEnded).toBe(true);

  expect(() => stream.send('{"id":7}', "result", 7)).not.toThrow();
  expect(stream.isOpen).toBe(false);
});
