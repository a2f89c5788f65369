import { HallError } from "../../base/errors.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { formatBytes, plural, shortenLine } from "../../base/text.ts";
import {
  type Exposure,
  measureExposure,
  setExposure,
  switchTools,
} from "../../hall/shown-tools.ts";
import { readOwnUri } from "../../registry/resource-owners.ts";
import type { ToldTool } from "../../toolkits/find/answer.ts";
import { isLockedServer, type Lock, readLock } from "../../upstream/lock.ts";
import type { JsonOption } from "../declaration.ts";
import { getTool, loadProject, noteFaults, noteUnlisted, withHall } from "../hall.ts";
import { createWaiting } from "../live.ts";
import { print, table, wrapProse } from "../print.ts";

export async function runTools(query: readonly string[], options: JsonOption): Promise<void> {
  if (query.length === 0) await listAll(options);
  else await findFor(query.join(" "), options);
}

const descriptionMax = 120;
const foundMax = 10;

async function listAll(options: JsonOption): Promise<void> {
  await withHall(async (client, settings) => {
    const tools = await client.list("tools/list", "tools");
    const rows = tools.map(({ name, description }) => [
      String(name),
      shortenLine(String(description ?? ""), descriptionMax),
    ]);
    print(tools, table(["tool", "description"], rows, { empty: "no tools" }), options);
    noteUnlisted(client, options);
    await noteFaults(settings, options);
  });
}

/** The answer `find_tools` gives a model. */
async function findFor(task: string, options: JsonOption): Promise<void> {
  await withHall(async (client) => {
    const { isError, structuredContent } = await client.request("tools/call", {
      name: "find_tools",
      arguments: { task, limit: foundMax, detail: "full" },
    });
    if (isError)
      throw new HallError("VALIDATION", "cannot search for this", {
        hint: "Describe in a few words what the tool should do.",
      });
    const found = withoutPadding(structuredContent as unknown as FoundTools);
    print(found, formatFound(found), options);
    noteUnlisted(client, options);
  });
}

interface FoundTools {
  readonly fits: boolean;
  readonly total: number;
  readonly tools: readonly ToldTool[];
  readonly notes?: readonly string[];
}

/** The finder fills its answer up to the limit; a person wants only what matched. */
function withoutPadding(found: FoundTools): FoundTools {
  const matched = found.tools.filter((tool) => tool.matched.length > 0);
  return matched.length > 0 ? { ...found, tools: matched } : found;
}

function formatFound({ fits, total, tools, notes = [] }: FoundTools): string {
  if (tools.length === 0)
    return [`no match among ${plural(total, "tool")}`, ...notes.map(visible)].join("\n");
  const rows = tools.map((tool) => [
    tool.name,
    stateOf(tool),
    tool.matched.join(", "),
    shortenLine(tool.description ?? "", descriptionMax),
  ]);
  const head = fits
    ? `best matches of ${plural(total, "tool")}:`
    : `no good match; nearest of ${plural(total, "tool")}:`;
  return [
    `${head}\n`,
    table(["tool", "", "matched", "description"], rows, { extra: ["matched"] }),
    ...notes.map(visible),
  ].join("\n");
}

function stateOf({ asks, unavailable }: ToldTool): string {
  if (unavailable !== undefined) return "down";
  return asks === undefined ? "" : "asks";
}

export async function runToolShow(name: string, options: JsonOption): Promise<void> {
  await withHall(
    async (client, settings) => {
      const tool = await getTool(name, client, settings);
      const text = [
        visible(String(tool.name)),
        visibleLines(String(tool.description ?? "")),
        `input: ${JSON.stringify(tool.inputSchema, null, 2)}`,
      ];
      print(tool, text.join("\n\n"), options);
    },
    { tool: name },
  );
}

export async function runToolsEnable(pattern: string, options: JsonOption): Promise<void> {
  await runSwitch(pattern, true, options);
}

export async function runToolsDisable(pattern: string, options: JsonOption): Promise<void> {
  await runSwitch(pattern, false, options);
}

async function runSwitch(pattern: string, isOn: boolean, options: JsonOption): Promise<void> {
  const { server, tools, file, isChanged } = await switchTools(await loadProject(), pattern, isOn);
  const state = isOn ? "enabled" : "disabled";
  const names = tools.length > 0 ? `: ${tools.map(visible).join(", ")}` : "; no known tool matches";
  const undo = `to undo: \`guildhall tools ${isOn ? "disable" : "enable"} '${pattern}'\``;
  const text = isChanged
    ? `${state} ${plural(tools.length, "tool")} of ${server} in ${file}${names}\n${undo}`
    : `already ${state}${names}`;
  print({ pattern, server, tools, file, isChanged, enabled: isOn }, wrapProse(text), options);
}

export async function runResources(options: JsonOption): Promise<void> {
  await withHall(async (client, { folder }) => {
    const [resources, templates, lock] = await Promise.all([
      client.list("resources/list", "resources"),
      client.list("resources/templates/list", "resourceTemplates"),
      readLock(folder, () => {}),
    ]);
    const rows = [
      ...resources.map(({ uri, name }) => [String(uri), String(name ?? "")] as const),
      ...templates.map(
        ({ uriTemplate, name }) => [String(uriTemplate), String(name ?? "")] as const,
      ),
    ].map(([uri, name]) => [uri, ownerOf(uri, lock), name]);
    print(
      { resources, templates },
      table(["resource", "server", "name"], rows, { empty: "no resources" }),
      options,
    );
    noteUnlisted(client, options);
  });
}

/** The server of a resource or template, as far as its URI or the lock tells. */
function ownerOf(uri: string, { servers }: Lock): string {
  const named = readOwnUri(uri)?.id;
  if (named !== undefined) return named;
  if (uri.startsWith("guildhall://")) return "(hall)";
  const owners = Object.entries(servers).filter(
    ([, locked]) =>
      isLockedServer(locked) &&
      (locked.offer.resources.some((item) => item.uri === uri) ||
        locked.offer.templates.some((item) => item.uriTemplate === uri)),
  );
  return owners.map(([name]) => name).join(", ");
}

export async function runPrompts(options: JsonOption): Promise<void> {
  await withHall(async (client) => {
    const prompts = await client.list("prompts/list", "prompts");
    const rows = prompts.map(({ name, description }) => [String(name), String(description ?? "")]);
    print(prompts, table(["prompt", "description"], rows, { empty: "no prompts" }), options);
    noteUnlisted(client, options);
  });
}

/** Sets what clients see, and shows it; without faces, only shows it. */
export async function runExpose(faces: string | undefined, options: JsonOption): Promise<void> {
  const edited = faces === undefined ? undefined : await setExposure(process.cwd(), faces);
  const settings = await loadProject();
  const measuring = measureExposure(settings);
  const { after: exposure } = await createWaiting().during("listing the tools", measuring);
  const change = edited?.isChanged ? `set expose to ${exposure.expose} in ${edited.file}` : "";
  const text = [change, formatExposure(exposure)].filter(Boolean).join("\n");
  print({ ...exposure, file: edited?.file, changed: edited?.isChanged }, wrapProse(text), options);
}

const namesMax = 10;

function formatExposure({ expose, tools, bytes, tokens }: Exposure): string {
  const first = tools.slice(0, namesMax).map(visible).join(", ");
  const more = tools.length > namesMax ? ` and ${tools.length - namesMax} more` : "";
  return [
    `clients that start now see ${plural(tools.length, "tool")} (${formatBytes(bytes)}, about ${tokens.toLocaleString("en")} tokens; expose: ${expose}): ${first}${more}`,
    "to change it: `guildhall expose tools`, `search`, `agents`, `code` or `default`",
  ].join("\n");
}
