import { readAgentFolder, readNoteFiles } from "../agents/agent-folder.ts";
import type { GroupSource } from "../agents/groups.ts";
import { HallError } from "../base/errors.ts";
import { hashOf } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { readProjectFile, replaceProjectFile } from "../base/project-files.ts";
import { collectServers } from "../config/configured-servers.ts";
import { fieldAt } from "../config/layer.ts";
import type { FieldToApprove } from "../config/project-limits.ts";
import { digestModules } from "../registry/modules.ts";
import {
  parseSaved,
  readSavedFolder,
  type SavedFile,
  savedName,
  savedPath,
  writeSaved,
} from "../toolkits/programs/saved.ts";
import { heldProgram, type SavedPrograms } from "../toolkits/programs/saved-toolkit.ts";
import { type Entries, type Ledger, noEntries } from "../trust/ledger.ts";
import { askHall } from "./admin-client.ts";
import { openProjectLedger } from "./project-store.ts";
import { rightsOf } from "./sandbox.ts";
import type { Settings } from "./settings.ts";

/**
 * A text of a project that models would read: an agent file, instructions.md, notes about servers, a saved program,
 * words in its config, or the folders that it opens to them. It counts once a person has approved it as it is.
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
  const [{ agents, guide }, notes, saved] = await Promise.all([
    readAgentFolder(folder),
    readNoteFiles(folder, Object.keys(collectServers(loaded))),
    readSavedFolder(folder),
  ]);
  return [
    ...agents.map(({ fileName, text }) => ({ name: `agents/${fileName}`, text })),
    ...(guide === undefined ? [] : [{ name: guideName, text: guide }]),
    ...notes,
    ...saved.files.map(textOfProgram),
    ...loaded.toApprove.map((field) => textOfField(loaded.config, field)),
  ];
}

const guideName = "instructions.md";

function textOfField(config: Settings["config"], field: FieldToApprove): ProjectText {
  const value = fieldAt(config, field.split("."));
  return { name: `${field} in the config`, text: JSON.stringify(value, null, 2) };
}

/** False for a field that the project's file sets and nobody has approved. */
function isFieldUsed(
  { config, toApprove }: Settings["loaded"],
  entries: Entries,
  field: FieldToApprove,
): boolean {
  return !toApprove.includes(field) || isTextApproved(entries, textOfField(config, field));
}

/** Asks the ledger at each call whether the config's folders may be read; any process may have taken it back. */
export async function watchFolders(
  settings: Settings,
): Promise<(field: FieldToApprove) => boolean> {
  const ledger = await openProjectLedger(settings);
  let entries = noEntries;
  return (field) => {
    entries = ledger.readIfChanged() ?? entries;
    return isFieldUsed(settings.loaded, entries, field);
  };
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
interface Rewritten {
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
export async function openAgents(
  folder: string,
  entries: Entries,
  log: Pick<Log, "warn">,
): Promise<GroupSource> {
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

function textOfProgram({ textName, text }: SavedFile): ProjectText {
  return { name: textName, text };
}

/** The saved programs of a project. Those that nobody has approved as they are only have a name. */
export async function openSavedPrograms(
  folder: string,
  entries: Entries,
  log: Pick<Log, "warn">,
): Promise<SavedPrograms> {
  const { files, problems } = await readSavedFolder(folder);
  for (const problem of problems) log.warn(problem);
  const approved = files.filter((file) => isTextApproved(entries, textOfProgram(file)));
  const waiting = files.filter((file) => !approved.includes(file));
  for (const { fileName } of waiting)
    log.warn(`.guildhall/tools/${fileName} is not used: approve it with \`guildhall verify\``);
  return { approved, waiting: waiting.map(({ name }) => name) };
}

/** The config without the words of the project that no person has approved. */
export function approvedWords(
  loaded: Settings["loaded"],
  entries: Entries,
): Pick<Settings["config"], "domain" | "hints" | "aliases"> {
  const { config } = loaded;
  const isUsed = (field: FieldToApprove): boolean => isFieldUsed(loaded, entries, field);
  return {
    domain: isUsed("domain") ? config.domain : undefined,
    hints: isUsed("hints") ? config.hints : [],
    aliases: isUsed("aliases") ? config.aliases : {},
  };
}

/** A file of the project that would run in the process of its modules. */
export interface ModuleReview {
  readonly file: string;
  readonly change: "new" | "changed" | "same";
}

export interface ModuleSession {
  readonly settings: Settings;
  readonly entries: Entries;
}

/** True if the project names toolkit modules that are not approved as they are now. */
export async function hasUnapprovedModules(session: ModuleSession): Promise<boolean> {
  const modules = compareModules(session.entries, await findModules(session));
  return modules.some(({ change }) => change !== "same");
}

export function findModules({
  settings,
}: ModuleSession): Promise<Readonly<Record<string, string>>> {
  const { toolkits, defaults } = settings.config;
  return digestModules(toolkits, settings.folder, rightsOf(defaults.sandbox));
}

export function compareModules(
  { modules: approved = {} }: Entries,
  found: Readonly<Record<string, string>>,
): readonly ModuleReview[] {
  return Object.entries(found).map(([file, digest]): ModuleReview => {
    if (!Object.hasOwn(approved, file)) return { file, change: "new" };
    return { file, change: approved[file] === digest ? "same" : "changed" };
  });
}

interface ProgramToSave extends Pick<SavedFile, "name" | "language" | "mode"> {
  readonly code: string;
  /** Ignored if the code has front matter of its own. */
  readonly description?: string | undefined;
}

export interface SavedFilePlace {
  /** Inside the project. */
  readonly file: string;
  readonly tool: string;
}

/** Writes a program as a tool of the project. It is held back until a person approves it. Throws CONFLICT. */
export async function saveProgram(
  folder: string,
  { name: wish, language, code, description, mode }: ProgramToSave,
): Promise<SavedFilePlace> {
  const stem = savedName(wish);
  const fileName = `${stem.replaceAll("_", "-")}.${language}`;
  const file = savedPath(fileName);
  const words = description ?? `Runs the program ${stem.replaceAll("_", " ")}.`;
  const text = writeSaved(language, code, { description: words, mode });
  const { name } = await parseSaved(fileName, text);
  const before = await readProjectFile(folder, file);
  if (before !== undefined && before !== text)
    throw new HallError("CONFLICT", `${file} already exists`, {
      hint: "Choose another name, or remove the file first.",
    });
  await replaceProjectFile(folder, file, text);
  await askHall(folder, "trustChanged", {});
  return { file, tool: `programs__${name}` };
}

/** Throws DENIED for a program of the project, given that it is not listed. */
export async function refuseHeldProgram(folder: string, name: string): Promise<void> {
  const { files } = await readSavedFolder(folder);
  if (files.some((file) => file.name === name)) throw heldProgram(name);
}
