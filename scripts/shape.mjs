// Prints the size and shape of src as a Markdown table. `--write` also puts it into
// docs/architecture.md; `--list` names what each count found. The formatter's width is 100 columns
// (biome.json), so lines are counted as they are.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";
import { filesOfRelayedCall } from "./relayed-call.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** These files answer requests over a Peer; every other user of Peer is a client. */
const servingFiles = ["src/server/connection.ts", "src/hall/control.ts"];

/**
 * Folders that read or write sentences of ours. Regular expressions elsewhere read text from outside:
 * programs, documents, tasks, tool descriptions.
 */
const folderOfSentences = /^src\/(base|cli|client|gateway|hall|registry|server|tui|upstream)\//;

/** Phrases in patterns that match text from elsewhere: key files, Node, commander, yaml, git, SDKs, HTTP clients, spec-kit. */
const foreignPhrases = [
  "import statement",
  "Expected (",
  "Did you mean",
  "network is unreachable",
  "PRIVATE KEY",
  "Cannot find",
  " at line ",
  "not a git repository",
  "dynamic client registration",
  "Feature Branch",
  "NEEDS CLARIFICATION",
];

/**
 * Folders and files that whole features brought after the rebuild of the code, which the goal of
 * 75,000 lines was set for. Found with `git diff --find-renames --name-status` since its last commit;
 * what grew inside older files, or was merged into them, counts as older.
 */
const addedLater = [
  // the page
  /^src\/hall\/page\//,
  /^src\/server\/http\/(page-\w+|same-user)\.ts$/,
  // people, policies and several halls
  /^src\/(trust\/policy|hall\/together|store\/shared)\//,
  /^src\/server\/http\/(access-tokens|claims|clients|issuer|moved-sessions|other-halls|tls)\.ts$/,
  /^src\/(server|gateway|cli\/commands)\/(policy|rights)\.ts$/,
  /^src\/hall\/polic[\w-]+\.ts$/,
  /^src\/store\/move\.ts$/,
  // sandboxes and installing
  /^src\/upstream\/sandbox\//,
  /^src\/(hall|cli\/commands)\/sandbox[\w-]*\.ts$/,
  /^src\/upstream\/(installation|installer|uv)\.ts$/,
  // REST descriptions, programs in JavaScript, saved programs
  /^src\/(upstream\/openapi|toolkits\/programs\/js)\//,
  /^src\/toolkits\/programs\/(companions|saved[\w-]*)\.ts$/,
  // secrets, pasted servers, the hall in the background
  /^src\/base\/(secret-store|user-key)\.ts$/,
  /^src\/hall\/(secrets|import\/pasted|daemon|take-over|package-pin)\.ts$/,
  /^src\/cli\/commands\/(credentials|add|completion)\.ts$/,
  // tasks and lines of their own for clients
  /^src\/(client|server)\/tasks\.ts$/,
  /^src\/upstream\/lines\.ts$/,
  // compiled code that is kept between starts
  /^src\/(base\/import-file|cli\/(compiled-code|loader|scripts))\.ts$/,
];

const files = filesOf("src");
/** The page is counted apart; the rules for functions, cycles and types hold for it too. */
const pageFiles = filesOf("web");
const sources = files.map(readSource);
const page = pageFiles.map(readSource);
const later = sources.filter(({ file }) => addedLater.some((pattern) => pattern.test(file)));
for (const pattern of addedLater)
  if (!files.some((file) => pattern.test(file))) throw new Error(`no file matches ${pattern}`);
const lineCounts = sources.map(({ lines }) => lines).sort((a, b) => a - b);
const functions = [...sources, ...page].flatMap(findFunctions).sort((a, b) => b.lines - a.lines);
const longFunctions = functions.filter(({ lines }) => lines > 120);
const largest = sources.reduce((most, source) => (source.lines > most.lines ? source : most));
const cycles = findCycles();
const anys = find(({ type }) => type === "TSAnyKeyword");
const ternaries = find(isNestedTernary);
const sentencePatterns = find(isSentencePattern);
const clientEnds = find(isClientEnd);
const backoffs = find(isBackoff);
const sharedNames = findSharedNames();
const glossaryRows = countGlossaryRows();
const relayed = await filesOfRelayedCall();

const p90 = lineCounts[Math.ceil(lineCounts.length * 0.9) - 1];
const figures = [
  ["lines of `src`", total(sources), "–"],
  ["lines of `src` without later features", total(sources) - total(later), "≤ 75,000"],
  ["files", files.length, "–"],
  ["files without later features", files.length - later.length, "≤ 520"],
  ["lines of `web`, the page", total(page), "–"],
  ["90 % of the files have at most this many lines", p90, "≤ 240"],
  [`largest file (\`${shortName(largest.file)}\`)`, largest.lines, "≤ 450"],
  [`longest function (\`${functions[0].name}\`)`, functions[0].lines, "≤ 120"],
  ["functions over 120 lines", longFunctions.length, "0"],
  ["import cycles (values)", cycles.length, "0"],
  ["`any`", anys.length, "0"],
  ["nested ternaries", ternaries.length, "0"],
  ["regular expressions over our own sentences", sentencePatterns.length, "0"],
  ["MCP client ends", clientEnds.length, "1"],
  ["backoff formulas", backoffs.length, "1"],
  ["names that several files export a type under", sharedNames.length, "0"],
  ["rows of the glossary", glossaryRows, "≤ 60"],
  ["files that a relayed call passes", relayed.length, "≤ 32"],
];
const table = [
  "| figure | now | goal |",
  "|---|---|---|",
  ...figures.map(([name, value, goal]) => `| ${name} | ${value.toLocaleString("en")} | ${goal} |`),
].join("\n");
console.log(table);

if (process.argv.includes("--list")) {
  list(
    "later features",
    later.map(({ file, lines }) => `${lines} ${file}`),
  );
  list(
    "functions over 120 lines",
    longFunctions.map(({ name, lines }) => `${lines} ${name}`),
  );
  list(
    "import cycles",
    cycles.map((cycle) => cycle.join(" → ")),
  );
  list("any", anys);
  list("nested ternaries", ternaries);
  list("regular expressions over our own sentences", sentencePatterns);
  list("client ends", clientEnds);
  list("backoff formulas", backoffs);
  list("names of several exported types", sharedNames);
  list("files of a relayed call", relayed);
}

if (process.argv.includes("--write")) {
  const page = join(root, "docs/architecture.md");
  const text = readFileSync(page, "utf8");
  const between = /(<!-- shape -->\n).*?(?=<!-- end -->)/s;
  writeFileSync(
    page,
    text.replace(between, (_, start) => `${start}\n${table}\n\n`),
  );
}

function filesOf(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => `${folder}/${file}`)
    .sort();
}

function readSource(file) {
  const text = readFileSync(join(root, file), "utf8");
  const { program, module, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return { file, text, program, module, starts, lines: starts.length - 1 };
}

/** Calls `visit(node, parents)` for every node, parents innermost first. */
function walk(node, visit, parents = []) {
  if (Array.isArray(node)) {
    for (const item of node) walk(item, visit, parents);
    return;
  }
  if (node === null || typeof node !== "object") return;
  if (typeof node.type !== "string") return;
  visit(node, parents);
  const inner = [node, ...parents];
  for (const [key, value] of Object.entries(node))
    if (key !== "type" && typeof value === "object") walk(value, visit, inner);
}

/** `file:line` of every node that a test accepts. */
function find(accepts) {
  return [...sources, ...page].flatMap((source) => {
    const found = [];
    walk(source.program, (node, parents) => {
      if (accepts(node, parents, source))
        found.push(`${source.file}:${lineOf(source, node.start)}`);
    });
    return found;
  });
}

function lineOf({ starts }, offset) {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}

function findFunctions(source) {
  const found = [];
  walk(source.program, (node, parents) => {
    if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type))
      return;
    const lines = lineOf(source, node.end - 1) - lineOf(source, node.start) + 1;
    found.push({ name: `${shortName(source.file)} ${nameOf(node, parents)}`, lines });
  });
  return found;
}

function nameOf(node, [parent]) {
  return node.id?.name ?? parent?.id?.name ?? parent?.key?.name ?? "(anonymous)";
}

function shortName(file) {
  return file.replace(/^src\//, "");
}

/** A ternary directly inside a branch or the condition of another. */
function isNestedTernary(node, [parent]) {
  return node.type === "ConditionalExpression" && parent?.type === "ConditionalExpression";
}

/** Two words with a space between them: a piece of a sentence. */
function isSentencePattern(node, _parents, { file }) {
  if (!node.regex || !folderOfSentences.test(file)) return false;
  const { pattern } = node.regex;
  const isForeign = foreignPhrases.some((phrase) => pattern.includes(phrase));
  return !isForeign && /[a-z]{2,} [a-z]{2,}/i.test(pattern);
}

function isClientEnd(node, _parents, { file }) {
  return (
    node.type === "NewExpression" && node.callee.name === "Peer" && !servingFiles.includes(file)
  );
}

/** An exponential wait: a power inside Math.min, or a wait that is doubled in place. */
function isBackoff(node, parents, { file }) {
  if (/^src\/(lisp|ranking|toolkits)\//.test(file)) return false;
  if (node.type === "AssignmentExpression" && node.operator === "*=" && node.right.value === 2)
    return /ms$|delay|wait|pause/i.test(node.left.name ?? node.left.property?.name ?? "");
  const isPower =
    node.type === "BinaryExpression" && node.operator === "**" && node.left.value === 2;
  return isPower && parents.some((parent) => parent.callee?.property?.name === "min");
}

function countGlossaryRows() {
  const lines = readFileSync(join(root, "docs/glossary.md"), "utf8").split("\n");
  return lines.filter((line) => line.startsWith("| ")).length - 1;
}

/** Names under which more than one file declares and exports a type, an interface or a class. */
function findSharedNames() {
  const owners = new Map();
  for (const { file, program } of [...sources, ...page])
    for (const { type, declaration } of program.body) {
      if (type !== "ExportNamedDeclaration") continue;
      if (!/^(TS(Interface|TypeAlias)|Class)Declaration$/.test(declaration?.type)) continue;
      const { name } = declaration.id;
      owners.set(name, new Set(owners.get(name)).add(file));
    }
  return [...owners]
    .filter(([, files]) => files.size > 1)
    .map(([name, files]) => `${name}: ${[...files].join(", ")}`);
}

/** Groups of files that import each other's values, not only types. */
function findCycles() {
  const imports = new Map(
    [...sources, ...page].map((source) => [source.file, valueImports(source)]),
  );
  const seen = new Map();
  const stack = [];
  const found = [];
  const visit = (file) => {
    const entry = { index: seen.size, low: seen.size, isOpen: true };
    seen.set(file, entry);
    stack.push(file);
    for (const other of imports.get(file) ?? []) {
      if (!imports.has(other)) continue;
      const known = seen.get(other) ?? visit(other);
      if (known.isOpen) entry.low = Math.min(entry.low, known.low);
    }
    if (entry.low === entry.index) {
      const group = stack.splice(stack.indexOf(file));
      for (const member of group) seen.get(member).isOpen = false;
      if (group.length > 1) found.push(group);
    }
    return entry;
  };
  for (const file of [...files, ...pageFiles]) if (!seen.has(file)) visit(file);
  return found;
}

function valueImports({ file, module }) {
  const imported = module.staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest }) => moduleRequest.value);
  const exported = module.staticExports
    .flatMap(({ entries }) => entries)
    .filter(({ isType, moduleRequest }) => moduleRequest && !isType)
    .map(({ moduleRequest }) => moduleRequest.value);
  return [...imported, ...exported]
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => join(dirname(file), specifier));
}

function total(some) {
  return some.reduce((sum, { lines }) => sum + lines, 0);
}

function list(title, items) {
  console.log(`\n${title}: ${items.length}`);
  for (const item of items) console.log(`  ${item}`);
}
