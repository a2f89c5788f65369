import { median, percentile, ratioRow, row, short } from "./figures.mjs";
import { echoCall, start } from "./processes.mjs";

/** Programs that call tools: what one costs beside the same calls made one by one, in time and in bytes a client sees. */
export default { name: "code", run };

const callsOfProgram = 100;
const callsOfJob = 10;

async function run({ rounds = 15 } = {}) {
  const hall = start("hall");
  await hall.initialize();
  try {
    await warmUp(hall);
    return [
      await measureEmpty(hall),
      await measureCold(hall),
      await measureProgram(hall, rounds),
      await measureBytes(hall),
    ];
  } finally {
    await hall.stop();
  }
}

const evaluation = (code, accept = ({ isError }) => !isError, more = {}) => ({
  method: "tools/call",
  params: { name: "evaluate-lisp", arguments: { code, ...more } },
  accept,
});

/** A program for the same calls, with the same arguments. */
const program = (count) => `(loop for n below ${count} collect
  (call-tool "echo" :message (format nil "call ~d: the quick brown fox jumps over the lazy dog, 12 times" n) :options '(:style "plain" :tags ("bench" "stdio"))))`;

async function warmUp(hall) {
  await hall.ask(evaluation("(configure)", () => true));
  await hall.ask({
    method: "tools/call",
    params: { name: "configure-limits", arguments: { "max-calls": 500 } },
    accept: ({ isError }) => !isError,
  });
  await hall.sequence(200, () => evaluation("(+ 1 2)"));
  await hall.sequence(300, echoCall);
  await hall.sequence(5, () => evaluation(program(callsOfProgram)));
}

/** The thread's own round trip is in it, so this is an upper bound. */
async function measureEmpty(hall) {
  const times = await hall.sequence(500, () =>
    evaluation("nil", ({ content }) => content[0].text === "=> NIL"),
  );
  const plain = await hall.sequence(500, echoCall);
  const beyond = median(times) - median(plain);
  return row(
    "empty evaluation beyond a plain call, p50",
    beyond,
    "ms",
    { below: 0.3 },
    `${short(median(times))} and ${short(median(plain))} ms; the thread's round trip is in it`,
  );
}

/** A session nobody used before; a thread is kept ready for it. */
async function measureCold(hall) {
  const times = [];
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  for (let i = 0; i < 20; i++) {
    const call = evaluation("(+ 1 2)");
    times.push((await hall.ask({ ...call, params: { ...call.params, _meta: meta } })).ms);
    // As between two clients: long enough for the next thread to be ready.
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return row(
    "a new session's first evaluation, p50",
    median(times),
    "ms",
    { below: 5 },
    `p95 ${short(percentile(times, 0.95))} ms`,
  );
}

async function measureProgram(hall, rounds) {
  const ours = [];
  const theirs = [];
  const accept = ({ isError, structuredContent }) =>
    !isError && structuredContent.calls.length === callsOfProgram;
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    await hall.sequence(callsOfProgram, echoCall);
    theirs.push((callsOfProgram / (performance.now() - began)) * 1_000);
    const { ms } = await hall.ask(evaluation(program(callsOfProgram), accept));
    ours.push((callsOfProgram / ms) * 1_000);
  }
  return ratioRow(
    `${callsOfProgram} calls in one program, calls/s against the client's own`,
    ours,
    theirs,
    "calls/s",
    { atLeast: 0.8 },
  );
}

/** A job that reads ten texts of 2 KB and wants only their lengths. What is sent counts where it is a program. */
async function measureBytes(hall) {
  const message = "x".repeat(2_000);
  const bytesOf = (value) => Buffer.byteLength(JSON.stringify(value));
  let plain = 0;
  for (let n = 0; n < callsOfJob; n++) {
    const { result } = await hall.ask({
      method: "tools/call",
      params: { name: "echo", arguments: { message } },
      accept: ({ isError }) => !isError,
    });
    plain += bytesOf(result);
  }
  const code = `(loop repeat ${callsOfJob} collect (length (call-tool "echo" :message (make-string 2000 :initial-element #\\x))))`;
  const { result } = await hall.ask(
    evaluation(
      code,
      ({ content }) => content[0].text === `=> (${Array(callsOfJob).fill(2_000).join(" ")})`,
    ),
  );
  const inProgram = bytesOf({ code }) + bytesOf(result);
  const note = `${short(inProgram)} and ${short(plain)} bytes of ${callsOfJob} results of 2 KB`;
  return row(
    `bytes a client reads of a ${callsOfJob}-call job, against plain calls`,
    inProgram / plain,
    "×",
    {},
    note,
  );
}
