import { spawn } from "node:child_process";
import { once } from "node:events";
import { stderr } from "./stderr.mjs";

const newline = 0x0a;

/**
 * Starts a command and speaks newline JSON over its pipes. While the clock runs the client only writes lines made
 * before and counts lines that come back, so that it is not what limits a fast server. When the clock has stopped,
 * every answer is parsed and checked: each id once, nothing else, and the content right.
 */
export function startClient(command, args, { cwd, env } = {}) {
  const startedAt = performance.now();
  const child = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", stderr] });
  let chunks = [];
  let nextId = 0;
  let failure;
  let isExpected = false;
  let isInitialized = false;
  /** Called with the number of lines that ended. */
  let onLines = () => {};
  let wake = () => {};

  function fail(error) {
    failure ??= error;
    wake();
  }

  child.on("error", fail);
  child.stdin.on("error", fail);
  child.on("exit", (code, signal) =>
    fail(new Error(`the process has ended (${code ?? signal}); see bench/results/stderr.txt`)),
  );
  child.stdout.on("data", (chunk) => {
    if (!isExpected)
      return fail(new Error(`output that nobody asked for: ${chunk.toString().slice(0, 500)}`));
    chunks.push(chunk);
    let lines = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) lines++;
    if (lines > 0) onLines(lines);
  });

  /**
   * Sends all calls, at most `depth` unanswered; what one chunk of answers frees goes out in one
   * write. Gives answers and ms of all.
   */
  async function exchange(calls, depth) {
    const requests = calls.map(({ method, params }) => ({
      jsonrpc: "2.0",
      id: ++nextId,
      method,
      params,
    }));
    const lines = requests.map((request) => `${JSON.stringify(request)}\n`);
    let sent = 0;
    let answered = 0;
    const refill = () => {
      const from = sent;
      sent = Math.min(lines.length, answered + depth);
      if (sent === from + 1) child.stdin.write(lines[from]);
      else if (sent > from) child.stdin.write(lines.slice(from, sent).join(""));
    };
    chunks = [];
    isExpected = true;
    const done = new Promise((resolve) => {
      wake = resolve;
    });
    onLines = (count) => {
      answered += count;
      if (answered >= lines.length) wake();
      else refill();
    };
    if (failure) throw failure;
    const sentAt = performance.now();
    refill();
    await done;
    const arrivedAt = performance.now();
    isExpected = false;
    if (failure) throw failure;
    return { answers: check(requests, calls), ms: arrivedAt - sentAt, arrivedAt };
  }

  function check(requests, calls) {
    const lines = Buffer.concat(chunks).toString().split("\n");
    if (lines.pop() !== "" || lines.length !== calls.length)
      throw new Error(`${lines.length} answers to ${calls.length} requests`);
    const answers = new Map(
      lines.map((line) => JSON.parse(line)).map((answer) => [answer.id, answer]),
    );
    return calls.map(({ accept }, i) => {
      const answer = answers.get(requests[i].id);
      if (!answer?.result || !accept(answer.result))
        throw new Error(
          `a wrong answer to ${JSON.stringify(requests[i])}: ${JSON.stringify(answer)}`,
        );
      return answer;
    });
  }

  return {
    startedAt,
    pid: child.pid,
    get isInitialized() {
      return isInitialized;
    },

    async initialize() {
      const accept = ({ protocolVersion }) => protocolVersion === initializeParams.protocolVersion;
      const answer = await exchange(
        [{ method: "initialize", params: initializeParams, accept }],
        1,
      );
      child.stdin.write(
        `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`,
      );
      isInitialized = true;
      return answer;
    },

    /** One request. Resolves with its result, and when it arrived. */
    async ask(call) {
      const { answers, ms, arrivedAt } = await exchange([call], 1);
      return { result: answers[0].result, ms, arrivedAt };
    },

    /** `count` requests, one after the other. Resolves with the ms of each. */
    async sequence(count, makeCall) {
      const times = [];
      for (let number = 0; number < count; number++)
        times.push((await exchange([makeCall(number)], 1)).ms);
      return times;
    },

    /** `count` requests with `depth` in flight. Resolves with the ms of all. */
    async pipeline(count, depth, makeCall) {
      const calls = Array.from({ length: count }, (_, number) => makeCall(number));
      return (await exchange(calls, depth)).ms;
    },

    /**
     * Ends the server by closing its input; one that stays is killed. Throws when it had said more
     * than it was asked.
     */
    async stop() {
      if (failure) {
        child.kill("SIGKILL");
        throw failure;
      }
      const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
      child.stdin.end();
      await once(child, "exit");
      clearTimeout(timer);
    },
  };
}

export const initializeParams = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "bench", version: "1.0.0" },
};
