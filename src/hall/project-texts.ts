import { readAgentFolder } from "../agents/agent-folder.ts";
import type { GroupSource } from "../agents/groups.ts";
import { readNoteFiles } from "../agents/notes.ts";
import { hashOf } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { configuredServers } from "../config/unusable.ts";
import type { Entries, Ledger } from "../trust/ledger.ts";
import type { Settings } from "./settings.ts";

/**
 * A text of a project that models would read: an agent file, instructions.md, notes about servers, or
 * words in its config. It counts once a person has approved it as it is.
 */
export interface ProjectText {
  /** `agents/web.md`, `instructions.md`, `CLAUDE.md`, `hints in the config`. */
  readonly name: string;
  readonly text: string;
}

export async function readProjectTexts({
  folder,
  loaded,
}: Pick<Settings, "folder" | "loaded">): Promise<readonly ProjectText[]> {
  const { config, projectWords } = loaded;
  const [{ agents, guide }, notes] = await Promise.all([
    readAgentFolder(folder),
    readNoteFiles(folder, Object.keys(configuredServers(loaded))),
  ]);
  return [
    ...agents.map(({ fileName, text }) => ({ name: `agents/${fileName}`, text })),
    ...(guide === undefined ? [] : [{ name: guideName, text: guide }]),
    ...notes,
    ...projectWords.map((field) => ({
      name: wordsName(field),
      text: JSON.stringify(config[field], null, 2),
    })),
  ];
}

const guideName = "instructions.md";

function wordsName(field: Settings["loaded"]["projectWords"][number]): string {
  return `${field} in the config`;
}

export function isTextApproved({ texts = {} }: Entries, { name, text }: ProjectText): boolean {
  return Object.hasOwn(texts, name) && texts[name] === hashOf(text);
}

export function withApprovedTexts(entries: Entries, approved: readonly ProjectText[]): Entries {
  if (approved.length === 0) return entries;
  const digests = approved.map(({ name, text }) => [name, hashOf(text)] as const);
  return { ...entries, texts: { ...entries.texts, ...Object.fromEntries(digests) } };
}

/** A file that one of our commands has written from approved texts. */
export interface Rewritten {
  /** Relative to `.guildhall`. */
  readonly path: string;
  /** Its old path, if it was renamed. */
  readonly was?: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Approves what a command of ours wrote, unless it was made from a text that nobody approved. */
export async function approveRewritten(
  ledger: Ledger,
  rewritten: readonly Rewritten[],
): Promise<void> {
  if (rewritten.length === 0) return;
  await ledger.change((entries) =>
    withApprovedTexts(
      entries,
      rewritten.flatMap(({ path, was = path, before, after }) => {
        const isOurs = before === undefined || isTextApproved(entries, { name: was, text: before });
        return isOurs && after !== undefined ? [{ name: path, text: after }] : [];
      }),
    ),
  );
}

/** The approved groups of a project and their guide for clients. Other files are logged and left out. */
export async function openAgents(folder: string, entries: Entries, log: Log): Promise<GroupSource> {
  const { agents, guide, problems } = await readAgentFolder(folder);
  for (const problem of problems) log.warn(problem);
  const isUsed = (name: string, text: string): boolean => {
    const isApproved = isTextApproved(entries, { name, text });
    if (!isApproved)
      log.warn(`.guildhall/${name} is not used: approve it with \`guildhall verify\``);
    return isApproved;
  };
  return {
    files: agents
      .filter(({ fileName, text }) => isUsed(`agents/${fileName}`, text))
      .map(({ agent }) => agent),
    guide: guide !== undefined && isUsed(guideName, guide) ? guide : undefined,
  };
}

/** The config without the project's own words that nobody approved. */
export function approvedWords(
  { config, projectWords }: Settings["loaded"],
  entries: Entries,
): Pick<Settings["config"], "domain" | "hints" | "aliases"> {
  const isUsed = (field: (typeof projectWords)[number]): boolean =>
    !projectWords.includes(field) ||
    isTextApproved(entries, {
      name: wordsName(field),
      text: JSON.stringify(config[field], null, 2),
    });
  return {
    domain: isUsed("domain") ? config.domain : undefined,
    hints: isUsed("hints") ? config.hints : [],
    aliases: isUsed("aliases") ? config.aliases : {},
  };
}
