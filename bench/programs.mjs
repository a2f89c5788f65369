import { median, percentile, ratioRow, row, short } from "./figures.mjs";
import { echoCall, start } from "./processes.mjs";

/**
 * Sessions and programs in both languages: a new session, and 100 calls in one program beside the
 * same made one by one.
 */
export default { name: "programs", run };

const callsOfProgram = 100;
const languages = {
  lisp: {
    short: "(+ 1 2)",
    program: `(loop for n below ${callsOfProgram} collect
      (call-tool "echo" :message (format nil "call ~d: the quick brown fox jumps over the lazy dog, 12 times" n) :options '(:style "plain" :tags ("bench" "stdio"))))`,
  },
  js: {
    short: "1 + 2",
    program: `const all = [];
      for (let n = 0; n < ${callsOfProgram}; n++) all.push(await callTool("echo", {
        message: "call " + n + ": the quick brown fox jumps over the lazy dog, 12 times",
        options: { style: "plain", tags: ["bench", "stdio"] },
      }));
      all`,
  },
};

async function run({ rounds = 15 } = {}) {
  const rows = [];
  for (const [language, programs] of Object.entries(languages)) {
    const hall = start("hall");
    await hall.initialize();
    try {
      rows.push(...(await measure(hall, language, programs, rounds)));
    } finally {
      await hall.stop();
    }
  }
  return rows;
}

async function measure(hall, language, programs, rounds) {
  const accept = ({ isError }) => !isError;
  const evaluation = (code, wanted = accept) => ({
    method: "tools/call",
    params: { name: `evaluate-${language}`, arguments: { code } },
    accept: wanted,
  });
  await hall.ask(evaluation(programs.short));
  await hall.ask({
    method: "tools/call",
    params: { name: "configure-limits", arguments: { language, "max-calls": 500 } },
    accept,
  });
  await hall.sequence(300, echoCall);
  await hall.sequence(5, () => evaluation(programs.program));
  return [
    await measureNew(hall, language, evaluation(programs.short)),
    await measureCalls(hall, language, rounds, (wanted) => evaluation(programs.program, wanted)),
  ];
}

/** A request without a session of its own; a thread is kept ready for it. */
async function measureNew(hall, language, call) {
  const times = [];
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  for (let i = 0; i < 15; i++) {
    times.push((await hall.ask({ ...call, params: { ...call.params, _meta } })).ms);
    // As between two clients: long enough for the next thread to be ready.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  const note = `p95 ${short(percentile(times, 0.95))} ms`;
  return row(`${language}: a new session, p50`, median(times), "ms", { atMost: 15 }, note);
}

async function measureCalls(hall, language, rounds, evaluation) {
  const ours = [];
  const theirs = [];
  const accept = ({ isError, structuredContent }) =>
    !isError && structuredContent.calls.length === callsOfProgram;
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    await hall.sequence(callsOfProgram, echoCall);
    theirs.push((callsOfProgram / (performance.now() - began)) * 1_000);
    const { ms } = await hall.ask(evaluation(accept));
    ours.push((callsOfProgram / ms) * 1_000);
  }
  const figure = `${language}: ${callsOfProgram} calls in one program, calls/s against direct calls`;
  return ratioRow(figure, ours, theirs, "calls/s", { atLeast: 0.8 });
}
