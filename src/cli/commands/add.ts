import { isAbsolute, relative, resolve } from "node:path";
import { text as readStream } from "node:stream/consumers";
import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { visible } from "../../base/sanitize.ts";
import {
  type BuiltinName,
  builtinWith,
  isBuiltinName,
  isBuiltinOn,
} from "../../config/configured-servers.ts";
import { type AddReport, addServers, editConfig } from "../../hall/config-edit.ts";
import {
  type ApiFlags,
  entryFrom,
  isClaudeLine,
  readClaudeLine,
  readPasted,
} from "../../hall/import/pasted.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { joinLines, paint, print, wrapProse } from "../print.ts";
import { runBuild } from "./build.ts";

interface AddOptions extends JsonOption, Partial<ApiFlags> {
  readonly url?: string;
  readonly header?: readonly string[];
  readonly env?: readonly string[];
  readonly transport?: string;
  readonly yes?: boolean;
  /** Where the command was typed. */
  readonly start: string;
}

/** Adds servers to the config, then starts, records and reviews them like `build`. */
export async function runAdd(
  name: string | undefined,
  words: readonly string[],
  options: AddOptions,
): Promise<void> {
  if (name !== undefined && words.length === 0 && options.url === undefined && isBuiltinName(name))
    return addBuiltin(name, options);
  const { header = [], env = [], url, openapi } = options;
  const isDescribed =
    words.length > 0 ||
    url !== undefined ||
    openapi !== undefined ||
    header.length + env.length > 0;
  const isArgument = name !== undefined && (isDescribed || !isName(name));
  const entries = isArgument
    ? readArguments(name, words, options)
    : readPasted(await readInput(), name);
  const { before: _before, after: _after, ...report } = await addServers(process.cwd(), entries);
  if (!options.json) process.stdout.write(`${wrapProse(formatAdded(report, isArgument))}\n`);
  const names = report.added.map((server) => server.name);
  await runBuild(names, { ...options, added: report, chosen: names });
}

/** Turns built-in tools on beside servers. */
async function addBuiltin(name: BuiltinName, options: JsonOption): Promise<void> {
  const { folder, loaded } = await loadProject();
  const isOn = isBuiltinOn(name, loaded);
  const edited = isOn
    ? undefined
    : await editConfig(folder, (tree) => ({ ...tree, builtin: builtinWith(name, loaded.config) }));
  const text = edited ? `turned on ${name} in ${edited.file}` : `${name} is on already`;
  print({ builtin: name, changed: !isOn, file: edited?.file }, text, options);
}

function readArguments(
  name: string,
  words: readonly string[],
  { url, header: headers = [], env = [], transport, start, ...options }: AddOptions,
): Parameters<typeof addServers>[1] {
  const all = [name, ...words];
  const api = apiFrom(options, start);
  const describe = (line: readonly string[]): JsonObject =>
    startedIn(start, entryFrom(line, { url, transport, headers, env, api }));
  // A line for Claude Code without quotes: its flags are also ours.
  if (isClaudeLine(all)) {
    const [, , add = "", given = "", ...rest] = all;
    if (add === "add-json") return readClaudeLine(all);
    return [{ name: given, value: describe(rest) }];
  }
  const isDescribed = api !== undefined || url !== undefined || headers.length + env.length > 0;
  const [first] = words;
  if (!isDescribed && words.length === 0) return readPasted(name, undefined);
  if (!isDescribed && words.length === 1 && first?.trimStart().startsWith("{"))
    return readPasted(first, name);
  return [{ name, value: describe(words) }];
}

/** A file is named from the project's folder, wherever the command was typed. */
function apiFrom(
  { openapi, baseUrl, auth = [], include = [] }: Partial<AddOptions>,
  start: string,
): ApiFlags | undefined {
  if (openapi === undefined) return undefined;
  const isUrl = /^https?:\/\//.test(openapi);
  const file = relative(process.cwd(), resolve(start, openapi));
  const isInside = !/^\.\.([\\/]|$)/.test(file) && !isAbsolute(file);
  return { openapi: isUrl || !isInside ? openapi : `./${file}`, baseUrl, auth, include };
}

/** A command that was typed below the project's folder runs where it was typed: its paths are relative to that. */
function startedIn(start: string, entry: JsonObject): JsonObject {
  const cwd = relative(process.cwd(), start);
  const isBelow = cwd !== "" && !/^\.\.([\\/]|$)/.test(cwd) && !isAbsolute(cwd);
  return isBelow && entry.command !== undefined ? { ...entry, cwd } : entry;
}

function isName(text: string): boolean {
  return /^[\w-]+$/.test(text);
}

async function readInput(): Promise<string> {
  if (!process.stdin.isTTY) {
    const text = await readStream(process.stdin);
    if (text.trim() !== "") return text;
  }
  throw new HallError("INVALID_PARAMS", "no server is given", {
    hint: "Examples: guildhall add files -- npx -y @modelcontextprotocol/server-filesystem . · guildhall add docs --url https://example.com/mcp · guildhall add '{\"mcpServers\": …}'",
  });
}

function formatAdded(
  { file, added, secrets, variables }: Omit<AddReport, "before" | "after">,
  isArgument: boolean,
): string {
  const history = "  it was on the command line: your shell's history may have it";
  return joinLines(
    added.flatMap(({ name, target, notes }) => [
      `added ${paint("bold", name)} to ${file}: ${visible(target)}`,
      ...notes.map((note) => `  note: ${visible(note)}`),
    ]),
    secrets.map((name) => `  ${name} is stored as a secret of this project, not in ${file}`),
    isArgument && secrets.length > 0 && history,
    variables.map((name) => `  set its value: \`guildhall secret set ${name}\``),
  );
}
