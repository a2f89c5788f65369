// node time.mjs ENGINE FOLDER SIZES PROGRAM: times one program in one engine, warm, and prints
// milliseconds of processor time as JSON. FOLDER holds the engine. With all programs in one
// process, what the host has learnt of one would spoil the next.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createNaive } from "./naive.mjs";
import { programs, withSize } from "./programs.mjs";

const [engine, folder, sizes, name] = process.argv.slice(2);
const isSmall = sizes === "small";
const minTurns = 5;
const minMs = isSmall ? 150 : 500;

/** Each gives a function that runs a definition or a program and answers its value as text. */
const engines = {
  ours: async () => {
    const { createLisp } = await import(pathToFileURL(folder));
    const lisp = createLisp({ budgets: { steps: 1e12, cells: 1e12, timeMs: 1e9 } });
    return (source) => {
      const { values, condition } = lisp.evaluate(source);
      if (condition) throw new Error(condition.text ?? condition.message ?? condition.type);
      return values[0];
    };
  },
  naive: () => {
    const naive = createNaive();
    return (source) => String(naive.evaluate(source));
  },
  biwascheme: () => {
    const { Interpreter } = requireFrom("biwascheme");
    const scheme = new Interpreter((error) => {
      throw error;
    });
    return (source) => String(scheme.evaluate(source));
  },
  lips: async () => {
    const { exec } = requireFrom("@jcubic/lips");
    await exec("(define = ==)");
    return async (source) => String(await exec(source)).replace(/^.*,/, "");
  },
  jscl: () => {
    const log = console.log;
    console.log = () => {};
    const { evaluateString } = requireFrom("jscl");
    console.log = log;
    return (source) => String(evaluateString(source));
  },
};

const requireFrom = (name) => createRequire(join(folder, "package.json"))(name);
const isScheme = ["biwascheme", "lips"].includes(engine);
const run = await engines[engine]();
const program = programs.find((one) => one.name === name);
console.log(
  JSON.stringify(
    await timeOf(program).catch((error) => ({
      error: String(error?.message ?? error).slice(0, 200),
    })),
  ),
);
process.exit(0);

async function timeOf({
  define,
  definePlain,
  lisp,
  defineScheme,
  scheme,
  size,
  smallSize,
  answer,
}) {
  const count = isSmall ? smallSize : size;
  await run(isScheme ? defineScheme : engine === "naive" ? (definePlain ?? define) : define);
  const source = withSize(isScheme ? scheme : lisp, count);
  const found = [];
  const begun = processorMs();
  while (found.length < minTurns || processorMs() - begun < minMs) {
    const started = processorMs();
    const value = await run(source);
    found.push(processorMs() - started);
    if (value !== String(answer(count)))
      throw new Error(`answered ${value} instead of ${answer(count)}`);
    if (processorMs() - begun > 10_000) break;
  }
  // The first turns are slow until the host has compiled what it runs.
  const warm = found.slice(Math.floor(found.length / 3));
  return warm.sort((a, b) => a - b)[Math.floor(warm.length / 2)];
}

/** Of this process, so that a busy machine disturbs little. */
function processorMs() {
  return process.cpuUsage().user / 1000;
}
