// Changes one place of the source at a time and runs the tests nearest to it, in a copy of the
// project. Prints a Markdown table: which test noticed each mutation. The seed decides the places.
//   node scripts/mutations.mjs [--seed N] [--count N] [--only 3,17] [--list] [--in FOLDER]
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseSync } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const folders = ["wire", "gateway", "upstream", "store", "trust"];
const runMsMax = 400_000;
/** Test files that are run for a mutation that the nearest did not notice. */
const restMax = 60;
const simulation = "test/sim/simulation.test.ts";

const opposite = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "&&": "||",
  "||": "&&",
  "+": "-",
  "-": "+",
};

/** Mutations that no test can notice. Another one of the same operator and folder takes their place. */
const equivalents = [
  {
    file: "src/gateway/validation.ts",
    before: "isObject(value) && isObject(answer.value)",
    reason: "both are objects or neither is, and assigning nothing changes nothing",
  },
  {
    file: "src/store/shared/board.ts",
    before: "1_000",
    reason: "a lease that is 1 ms longer still ends before that of the database",
  },
  {
    file: "src/store/shared/board.ts",
    before: "60_000",
    reason: "a lock that is lost after 1 ms more than a minute was lost anyway",
  },
  {
    file: "src/store/sqlite-engine.ts",
    before: "13",
    line: '["database or disk is full", 13],',
    reason: "13 and 14 are both transient, and nothing else asks for them",
  },
  {
    file: "src/store/move.ts",
    before: "0",
    line: "const number = Number(last?.number ?? 0);",
    reason: "the table of counters always has its one row",
  },
  {
    file: "src/store/move.ts",
    before: "0",
    line: 'await to.change("UPDATE counted SET seq = ?", [Number(last?.counted ?? 0)]);',
    reason: "the table of counters always has its one row",
  },
  {
    file: "src/store/calls.ts",
    before: "common[commonAt + index] ?? null",
    reason: "a packed call has all of its common values, and none is undefined",
  },
];

const { values: options } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "40" },
    only: { type: "string" },
    list: { type: "boolean" },
    in: { type: "string" },
  },
});
const replaced = [];
const chosen = choose(Number(options.seed), Number(options.count) / folders.length);
const wanted = options.only?.split(",").map(Number);
if (options.list)
  for (const [index, mutation] of chosen.entries()) console.log(row(index, mutation, ""));
else run();
for (const { index, mutation, reason } of replaced)
  console.log(row(index, mutation, `replaced, as it cannot be noticed: ${reason}`));

function run() {
  const copy = options.in ?? mkdtempSync(join(tmpdir(), "guildhall-mutations-"));
  if (!existsSync(join(copy, "package.json"))) copyProject(copy);
  const imports = readImports();
  let caught = 0;
  let count = 0;
  for (const [index, mutation] of chosen.entries()) {
    if (wanted && !wanted.includes(index + 1)) continue;
    const noticed = test(copy, mutation, imports);
    count++;
    if (noticed !== undefined) caught++;
    console.log(row(index, mutation, noticed ?? "**survived**"));
  }
  console.log(`\n${caught} of ${count} mutations were noticed (seed ${options.seed}).`);
  if (options.in === undefined) rmSync(copy, { recursive: true });
}

function row(index, { file, line, operator, before, after }, noticed) {
  const place = `\`${file.replace("src/", "")}:${line}\``;
  const change = `${operator}: \`${short(before)}\` → \`${short(after)}\``;
  return `| ${index + 1} | ${place} | ${change} | ${noticed} |`;
}

/** The test that fails with the mutation and passes without it; undefined if all passed. */
function test(copy, { file, start, end, after }, imports) {
  const path = join(copy, file);
  const text = readFileSync(join(root, file), "utf8");
  writeFileSync(path, text.slice(0, start) + after + text.slice(end));
  try {
    // The thread of the store runs the built program.
    if (file.startsWith("src/store/") && !build(copy)) return "the build";
    const [nearest, further, rest] = findTests(file, imports);
    for (const files of [nearest, [simulation], further, rest]) {
      const failed = failure(copy, files);
      if (failed && isOwn(failed.files)) return failed.text;
    }
    return undefined;
  } finally {
    restore();
  }

  /** On a busy machine a test may fail by itself: this one passes without the mutation, and fails again with it. */
  function isOwn(files) {
    const changed = readFileSync(path);
    restore();
    if (failure(copy, files)) return false;
    writeFileSync(path, changed);
    return (!file.startsWith("src/store/") || build(copy)) && failure(copy, files) !== undefined;
  }

  function restore() {
    writeFileSync(path, text);
    if (file.startsWith("src/store/")) build(copy);
  }
}

function build(copy) {
  return spawnSync(process.execPath, ["scripts/build.mjs", "--quiet"], { cwd: copy }).status === 0;
}

/** The first test that fails, with the files to run again. */
function failure(copy, files) {
  if (files.length === 0) return undefined;
  const { status, signal, stdout } = spawnSync(
    process.execPath,
    [
      ...["node_modules/vitest/vitest.mjs", "run", "--bail", "1", "--reporter", "json"],
      "--maxWorkers=1",
      // Only the changed module is compiled again.
      "--experimental.fsModuleCache",
      ...files,
    ],
    {
      cwd: copy,
      env: { ...process.env, GUILDHALL_SIM_SECONDS: "1" },
      timeout: runMsMax,
      maxBuffer: 1024 ** 3,
    },
  );
  if (status === 0) return undefined;
  if (signal) return { text: "did not end", files };
  const [report] = stdout.toString().match(/\{"numTotalTestSuites".*/) ?? [];
  const { testResults } = report ? JSON.parse(report) : { testResults: [] };
  for (const { name, status: ended, assertionResults } of testResults) {
    if (ended !== "failed") continue;
    const failed = assertionResults.find((result) => result.status === "failed");
    const path = relative(copy, name);
    const text = `${path.replace("test/", "")}: ${failed?.title ?? "cannot be loaded"}`;
    return { text, files: [path] };
  }
  return { text: "the test run", files };
}

function copyProject(copy) {
  const skipped = new Set(["node_modules", ".git", "dist", "results"]);
  cpSync(root, copy, {
    recursive: true,
    filter: (path) => !skipped.has(relative(root, path).split("/").at(-1) ?? ""),
  });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  build(copy);
}

/**
 * Four test files that import the file themselves, four that do through one or two others, and then
 * the rest of both; those of its own folder are first.
 */
function findTests(file, imports) {
  let reached = new Set([file]);
  const seen = new Set(reached);
  const distances = [];
  for (let distance = 0; distance < 3; distance++) {
    const importers = [...imports].filter(
      ([path, names]) => !seen.has(path) && names.some((name) => reached.has(name)),
    );
    reached = new Set(importers.map(([path]) => path));
    for (const path of reached) seen.add(path);
    distances.push([...reached].filter((path) => isUnitTest(path)));
  }
  const own = file.replace(/^src\/(\w+)\/.*/, "test/$1/");
  const sort = (tests) =>
    [true, false].flatMap((isOwn) => tests.filter((path) => path.startsWith(own) === isOwn));
  const [nearest, further] = [distances[0], distances.slice(1).flat()].map(sort);
  const rest = [...nearest.slice(4), ...further.slice(4)].slice(0, restMax);
  return [nearest.slice(0, 4), further.slice(0, 4), rest];
}

function isUnitTest(path) {
  return path.endsWith(".test.ts") && !/^test\/(e2e|web|docs|halls|sim)\//.test(path);
}

/** Maps the path of each module of src and test to the modules that it imports. */
function readImports() {
  const imports = new Map();
  for (const path of [...listFiles("src"), ...listFiles("test")]) {
    const text = readFileSync(join(root, path), "utf8");
    const names = [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map(([, name]) =>
      join(dirname(path), name),
    );
    imports.set(path, names);
  }
  return imports;
}

function listFiles(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => path.endsWith(".ts") && !path.includes("node_modules"))
    .sort();
}

/** As many mutations in each folder, of different operators and files as far as there are. */
function choose(seed, countInFolder) {
  const random = createRandom(seed);
  // Of its own, so that a replacement changes no other choice.
  const spare = createRandom(seed + 1);
  return folders.flatMap((folder, folderIndex) => {
    const places = listFiles(join("src", folder)).flatMap((file) => findPlaces(file));
    const operators = [...new Set(places.map(({ operator }) => operator))].sort();
    const picked = [];
    while (picked.length < countInFolder) {
      const operator = operators[picked.length % operators.length];
      const able = places.filter((place) => place.operator === operator && !picked.includes(place));
      const mutation = able[Math.floor(random() * able.length)];
      const reason = reasonOf(mutation);
      if (reason !== undefined)
        replaced.push({ index: folderIndex * countInFolder + picked.length, mutation, reason });
      const others = able.filter((place) => reasonOf(place) === undefined);
      picked.push(reason === undefined ? mutation : others[Math.floor(spare() * others.length)]);
    }
    return picked;
  });
}

/** Why it cannot be noticed, if so. */
function reasonOf({ file, before, lineText }) {
  return equivalents.find(
    (known) =>
      known.file === file &&
      known.before === before &&
      (known.line === undefined || known.line === lineText),
  )?.reason;
}

/** Every place of a file where an operator applies. */
function findPlaces(file) {
  const text = readFileSync(join(root, file), "utf8");
  const places = [];
  const at = ({ start, end }) => text.slice(start, end);
  const lines = text.split("\n");
  const add = (operator, { start, end }, after) => {
    const line = text.slice(0, start).split("\n").length;
    const before = text.slice(start, end);
    places.push({
      file,
      operator,
      start,
      end,
      line,
      lineText: lines[line - 1].trim(),
      before,
      after,
    });
  };

  visit(parseSync(file, text).program, (node) => {
    const { type, test, operator, left, right, consequent, alternate, value } = node;
    if (type === "IfStatement" || type === "ConditionalExpression")
      add("negated condition", test, `!(${at(test)})`);
    if (type === "ConditionalExpression")
      add("swapped branches", node, `${at(test)} ? ${at(alternate)} : ${at(consequent)}`);
    if (type === "ExpressionStatement" && !isLogged(at(node))) add("removed statement", node, ";");
    if ((type === "BinaryExpression" || type === "LogicalExpression") && opposite[operator])
      add("changed operator", node, `(${at(left)} ${opposite[operator]} ${at(right)})`);
    if (type === "LogicalExpression" && operator === "??")
      add("no default", node, `(${at(left)}!)`);
    if (type === "Literal" && typeof value === "number")
      add("changed constant", node, `${value + 1}`);
    if (type === "Literal" && typeof value === "boolean")
      add("changed constant", node, `${!value}`);
  });
  return places;
}

/** Removing a line of the log is no fault that a test must notice. */
function isLogged(text) {
  return /\blog\??\.(debug|info|warn|error)\(/.test(text);
}

/** Every node of the program, but none of its types. */
function visit(node, enter) {
  if (Array.isArray(node)) for (const part of node) visit(part, enter);
  else if (node && typeof node.type === "string") {
    const isType = /^TS/.test(node.type) && !node.expression;
    if (isType || node.type === "ImportDeclaration") return;
    enter(node);
    for (const part of Object.values(node))
      if (part && typeof part === "object") visit(part, enter);
  }
}

/** mulberry32 */
function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function short(text) {
  const line = text.replace(/\s+/g, " ").replaceAll("|", "\\|").replaceAll("`", "'");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
