import { readProjectFile } from "../base/project-files.ts";
import { isSpelling } from "../registry/names.ts";
import type { Target } from "../tool.ts";
import { agentName } from "./agent-file.ts";

/**
 * A project's notes about its servers, in CLAUDE.md, AGENTS.md and the config. A line that names a server describes it, and a
 * hint `name: server, server.tool` requests a group.
 */
export interface Notes {
  readonly domain: string | undefined;
  /** The lines about a toolkit. */
  about(toolkit: string): string;
  /** Requested groups, with servers and tools as written. */
  readonly wanted: readonly { readonly name: string; readonly members: readonly string[] }[];
}

export interface NotesOptions {
  readonly domain?: string | undefined;
  readonly hints?: readonly string[] | undefined;
}

const noteFiles = ["CLAUDE.md", "AGENTS.md"];
const charactersMax = 100_000;
const aboutMax = 1_000;

/** The files that say something about these servers. */
export async function readNoteFiles(
  folder: string,
  servers: readonly string[],
): Promise<readonly { readonly name: string; readonly text: string }[]> {
  // Often one is a link to the other, which is read anyway.
  const files = noteFiles.map(async (name) => {
    const text = await readProjectFile(folder, name).catch(() => undefined);
    return { name, text: (text ?? "").slice(0, charactersMax) };
  });
  return (await Promise.all(files)).filter(({ text }) =>
    readLines(text).some((line) => servers.some((server) => mentions(line, server))),
  );
}

export function parseNotes(text: string, { domain, hints = [] }: NotesOptions = {}): Notes {
  const wanted = hints.flatMap((hint) => parseHint(hint) ?? []);
  const said = [
    ...(domain === undefined ? [] : [domain]),
    ...hints.filter((hint) => !parseHint(hint)),
  ];
  const lines = [...readLines(text), ...said];
  return {
    domain,
    wanted,
    about: (toolkit) =>
      lines
        .filter((line) => mentions(line, toolkit))
        .join("\n")
        .slice(0, aboutMax),
  };
}

function readLines(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "" && !/^#{1,6}\s/.test(line));
}

/** As a whole word: not `time` in `sometimes`. */
function mentions(line: string, toolkit: string): boolean {
  const name = toolkit.toLowerCase();
  const text = line.toLowerCase();
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + name.length])) return true;
  }
  return false;
}

function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_-]/u.test(character);
}

function parseHint(
  hint: string,
): { readonly name: string; readonly members: readonly string[] } | undefined {
  const match = /^\s*([A-Za-z][\w -]{0,49}?)\s*:\s*(\S.*)$/.exec(hint);
  if (!match) return undefined;
  const members = (match[2] ?? "").split(",").map((member) => member.trim());
  // A sentence with a colon is not a list of names.
  return members.every((member) => /^[\w.*-]+$/.test(member))
    ? { name: agentName(match[1] ?? ""), members }
    : undefined;
}

/** The tools of a hint: a server by name or prefix, `server.*`, or a full tool name. */
export function findMembers(member: string, targets: readonly Target[]): readonly Target[] {
  const name = member.replace(/(\.|__)\*$/, "");
  return targets.filter(
    ({ toolkit, fullName }) =>
      isSpelling(member, fullName) ||
      toolkit.id === name ||
      (toolkit.prefix ?? toolkit.id) === name,
  );
}
