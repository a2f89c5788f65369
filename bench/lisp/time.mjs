// node time.mjs ENGINE FOLDER SIZES: times every program in one engine, warm, and prints milliseconds by program as JSON. FOLDER holds the engine.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createNaive } from "./naive.mjs";
import { programs, withSize } from "./programs.mjs";

const [engine, folder, sizes] = process.argv.slice(2);
const isSmall = sizes === "small";
const minTurns = 3;
const minMs = isSmall ? 100 : 300;

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
  lips: () => {
    const { exec } = requireFrom("@jcubic/lips");
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
const times = {};
for (const program of programs) times[program.name] = await timeOf(program).catch((error) => ({ error: String(error?.message ?? error).slice(0, 200) }));
console.log(JSON.stringify(times));
process.exit(0);

async function timeOf({ define, definePlain, lisp, defineScheme, scheme, size, smallSize, answer }) {
  const count = isSmall ? smallSize : size;
  await run(isScheme ? defineScheme : engine === "naive" ? (definePlain ?? define) : define);
  const source = withSize(isScheme ? scheme : lisp, count);
  const found = [];
  const begun = performance.now();
  while (found.length < minTurns || performance.now() - begun < minMs) {
    const started = performance.now();
    const value = await run(source);
    found.push(performance.now() - started);
    if (value !== String(answer(count))) throw new Error(`answered ${value} instead of ${answer(count)}`);
    if (performance.now() - begun > 20_000) break;
  }
  return found.sort((a, b) => a - b)[Math.floor(found.length / 2)];
}
