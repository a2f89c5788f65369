import { median, row, short } from "./figures.mjs";
import { echoCall, start } from "./processes.mjs";

/**
 * Programs that call tools: what an empty one costs, and the bytes a client sees. Calls in them are
 * in programs.mjs.
 */
export default { name: "code", run };

const callsOfJob = 10;

async function run() {
  const hall = start("hall");
  await hall.initialize();
  try {
    await warmUp(hall);
    return [await measureEmpty(hall), await measureBytes(hall)];
  } finally {
    await hall.stop();
  }
}

const evaluation = (code, accept = ({ isError }) => !isError) => ({
  method: "tools/call",
  params: { name: "evaluate-lisp", arguments: { code } },
  accept,
});

async function warmUp(hall) {
  await hall.sequence(200, () => evaluation("(+ 1 2)"));
  await hall.sequence(300, echoCall);
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
