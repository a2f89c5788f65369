import { isObject, type JsonObject } from "../base/json.ts";
import type { FlowMarks, Tool } from "../tool.ts";

/**
 * The probable effects of a tool, judged by its name, parameters and annotations before anyone reviewed it:
 * whether it changes something, and what it means for the flow guard. One table, read from top to
 * bottom; each rule names an example. Names are split into whole words (`deleteRepo`, `delete_repo`
 * and `delete-repo` are the same), so `undelete` does not match "delete" nor `breadcrumbs` "read".
 */
export type Mark = "changes" | keyof FlowMarks;

/** Unknown: neither its annotations nor its name say whether it changes something. */
export type Effect = "reads" | "changes" | "unknown";

/** Verbs: `get_order` and `send_email` name what is read or sent. */
const reading = set(
  "get list read search find fetch show describe count check query view lookup inspect preview explain",
  "status is has diff compare summarize",
);
const doing = set(
  "send create add open new make write edit update delete remove post publish reply submit close set",
  "merge push mark move",
);

/** The mark, an example, the words, and the verbs after which a word is a noun and does not count. */
const table: readonly (readonly [Mark, string, string, ReadonlySet<string>?])[] = [
  ["changes", "delete_branch", "delete del remove drop destroy erase purge wipe truncate unlink"],
  ["changes", "reset_password", "overwrite replace reset revert rollback revoke disable uninstall"],
  [
    "changes",
    "execute_command",
    "execute exec eval bash sudo rm rmdir chmod kill terminate shutdown reboot",
  ],
  ["changes", "write_file", "write edit append insert upsert rename move"],
  ["changes", "merge_pull_request", "merge push rebase deploy publish install grant"],
  ["changes", "send_email", "send pay buy purchase refund transfer withdraw"],
  ["changes", "update_record", "update patch set put modify change clear format", reading],
  [
    "changes",
    "run_script",
    "post order payment charge release run script shell restart tweet",
    reading,
  ],
  [
    "bringsIn",
    "fetch_url",
    "fetch browse scrape crawl download navigate url web page html rss feed",
  ],
  ["goesOut", "web_search", "fetch browse scrape crawl download navigate url web rss feed"],
  [
    "readsPrivate",
    "read_file",
    "file files folder folders directory env environment secret secrets credential credentials " +
      "password passwords clipboard contact contacts calendar inbox mailbox mail email emails",
    doing,
  ],
  ["bringsIn", "read_inbox", "mail email emails inbox message messages chat thread threads", doing],
  [
    "bringsIn",
    "get_issue",
    "issue issues comment comments review reviews pull ticket tickets news",
    doing,
  ],
  [
    "sendsOut",
    "upload_file",
    "send post publish tweet upload share notify webhook submit reply invite push",
  ],
  ["sendsOut", "create_issue", "email mail message comment issue ticket", reading],
];

export const rules = table.map(([mark, example, words, notAfter]) => ({
  mark,
  example,
  words: set(words),
  notAfter,
}));

function set(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join(" ").split(" "));
}

export interface Marks extends FlowMarks {
  readonly effect: Effect;
  /** The reason for each mark, for display. */
  readonly why: Readonly<Partial<Record<Mark, string>>>;
}

/**
 * Marks from the tool's name, parameters and annotations. Annotations of an upstream can only add
 * marks, except `readOnlyHint`, which counts once a person has reviewed the tool.
 */
export function markTool(tool: Tool): Marks {
  const words = wordsOf(tool.name);
  const annotations = isObject(tool.annotations) ? tool.annotations : {};
  const isReading = readsByName(words);
  const parameters = findParameters(tool, isReading);
  const why: Partial<Record<Mark, string>> = {};
  for (const { mark, words: known, notAfter } of rules) {
    const at = words.findIndex((word) => known.has(word));
    if (
      at === -1 ||
      why[mark] ||
      (notAfter && words.slice(0, at).some((word) => notAfter.has(word)))
    )
      continue;
    why[mark] = `its name contains "${words[at]}"`;
  }
  if (parameters.program !== undefined) why.changes ??= `it takes ${parameters.program}`;
  if (annotations.readOnlyHint === true) delete why.changes;
  if (!plainName.test(tool.name)) why.changes = "its name contains unusual characters";
  if (annotations.destructiveHint === true) why.changes = "it is marked destructive";
  const isReader = annotations.readOnlyHint === true || isReading;
  if (annotations.openWorldHint === true && annotations.readOnlyHint === true) {
    why.bringsIn ??= "it is marked as reaching outside systems";
    why.goesOut ??= "it is marked as reaching outside systems";
  }
  if (parameters.hasAddress) {
    why.bringsIn ??= "it takes a URL";
    why.takesAddress = "it takes a URL";
  }
  if (parameters.hasPath && isReader && why.changes === undefined)
    why.readsPrivate ??= "it takes a path";
  const known: Effect = isReader ? "reads" : "unknown";
  return {
    effect: why.changes === undefined ? known : "changes",
    bringsIn: why.bringsIn !== undefined,
    sendsOut: why.sendsOut !== undefined,
    takesAddress: why.takesAddress !== undefined,
    goesOut: why.goesOut !== undefined,
    readsPrivate: why.readsPrivate !== undefined,
    why,
  };
}

/** The marks for the flow guard, for display. */
export function describeFlow(marks: FlowMarks): readonly string[] {
  const words = [
    marks.readsPrivate ? "reads private data" : "",
    marks.bringsIn ? "reads outside content" : "",
    marks.sendsOut || marks.takesAddress ? "sends data out" : "",
  ];
  return words.filter((word) => word !== "");
}

const readingVerbs = set(
  "get list read search find fetch show describe count check view lookup look inspect preview explain",
  "is has diff compare summarize analyze analyse browse scrape crawl calculate compute translate echo",
);
/** Names of what is read; they count only beside no verb that may change something. */
const subjects = set(
  "status current now time weather forecast units currency temperature timezone",
);
const joins = set("and or then");
const changing = new Set(
  rules.flatMap(({ mark, words }) => (mark === "changes" ? [...words] : [])),
);

/** True if the first verb of the name only reads, and no second one follows (`get_or_create`). */
function readsByName(words: readonly string[]): boolean {
  const isVerb = (word: string): boolean =>
    readingVerbs.has(word) || doing.has(word) || changing.has(word);
  const verb = words.find(isVerb);
  if (verb === undefined) return words.some((word) => subjects.has(word));
  const isCheckOut = verb === "check" && /^(?:in|out)$/.test(words[words.indexOf(verb) + 1] ?? "");
  return readingVerbs.has(verb) && !isCheckOut && !words.some((word) => joins.has(word));
}

/** The characters MCP recommends. Look-alike letters would hide a word from the rules. */
const plainName = /^[A-Za-z0-9_./ -]*$/;

/** Facts about a tool that its parameters show. */
interface ParameterMarks {
  /** "a command", "code" or "SQL" if it runs what it is given. */
  readonly program: string | undefined;
  readonly hasAddress: boolean;
  readonly hasPath: boolean;
}

/** `isReading`: the tool's name says that it reads, so that its `code` is that of a country or a currency. */
function findParameters(tool: Tool, isReading: boolean): ParameterMarks {
  const isSql = namesSql(tool.name) || namesSql(tool.description);
  let program: string | undefined;
  let hasAddress = false;
  let hasPath = false;
  for (const [name, schema] of listParameters(tool.inputSchema)) {
    const words = wordsOf(name);
    const last = words.at(-1) ?? "";
    program ??= isFree(schema) ? programIn(words, { schema, isSql, isReading }) : undefined;
    hasAddress ||= words.some((word) => addresses.has(word));
    hasPath ||= paths.has(last);
  }
  return { program, hasAddress, hasPath };
}

const addresses = new Set(
  "url urls uri uris href link links host hostname endpoint webhook domain website".split(" "),
);
const paths = new Set("path paths file files filename filepath directory folder".split(" "));
const commands = new Set("command commands cmd argv shell bash".split(" "));
const scripts = new Set("script scripts program javascript typescript python js".split(" "));
const languages = new Set([...scripts, ..."source shell bash ruby lua lisp".split(" ")]);

function programIn(
  words: readonly string[],
  {
    schema,
    isSql,
    isReading,
  }: { readonly schema: JsonObject; readonly isSql: boolean; readonly isReading: boolean },
): string | undefined {
  const last = words.at(-1) ?? "";
  const before = words.at(-2);
  if (words.includes("sql")) return "SQL";
  if ((last === "query" || last === "statement") && (isSql || namesSql(schema.description)))
    return "SQL";
  if (commands.has(last)) return "a command";
  if (scripts.has(last)) return "code";
  // Not `country_code`.
  const isCode = last === "code" && (before === undefined ? !isReading : languages.has(before));
  return isCode ? "code" : undefined;
}

function namesSql(text: unknown): boolean {
  return typeof text === "string" && /(?:^|[^a-z])sql(?:$|[^a-z])/i.test(text.slice(0, 10_000));
}

/** False if the schema allows too little for a program: a choice, a number, a short code. */
function isFree({ type, enum: choices, const: only, maxLength }: JsonObject): boolean {
  if (choices !== undefined || only !== undefined) return false;
  if (typeof maxLength === "number" && maxLength <= 16) return false;
  return type !== "number" && type !== "integer" && type !== "boolean";
}

const parametersMax = 500;

/** The parameters at every level: a list of requests has a URL as well. */
function listParameters(schema: JsonObject): readonly (readonly [string, JsonObject])[] {
  const found: [string, JsonObject][] = [];
  const waiting: unknown[] = [schema];
  for (let seen = 0; waiting.length > 0 && seen < parametersMax; seen++) {
    const part = waiting.shift();
    if (!isObject(part)) continue;
    const { properties, items, additionalProperties, $defs, definitions } = part;
    for (const [name, inner] of Object.entries(isObject(properties) ? properties : {})) {
      found.push([name, isObject(inner) ? inner : {}]);
      waiting.push(inner);
    }
    waiting.push(items, additionalProperties);
    for (const group of [$defs, definitions])
      if (isObject(group)) waiting.push(...Object.values(group));
    for (const group of [part.anyOf, part.oneOf, part.allOf])
      if (Array.isArray(group)) waiting.push(...group);
  }
  return found;
}

/** Lower-case words of `deleteRepo`, `delete_repo`, `HTTPDelete`. */
function wordsOf(name: string): readonly string[] {
  return name
    .normalize("NFKC")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])(?=[A-Z][a-z])/g, "$1 ")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}
