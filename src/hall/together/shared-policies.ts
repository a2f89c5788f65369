import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { HallError } from "../../base/errors.ts";
import { dataFolder, makePrivateFolder, replacePrivate } from "../../base/files.ts";
import { userFileOf } from "../../config/files.ts";
import type { Board } from "../../store/shared/board.ts";
import type { PolicyFile } from "../../trust/policy/parse.ts";
import type { SharedFiles } from "../../trust/policy/policies.ts";
import { recordInProject } from "../project-store.ts";
import type { Settings } from "../settings.ts";
import { withBoard } from "./team.ts";

/** The files that one person has put in force in all halls. A later one has a greater revision. */
interface Published {
  readonly revision: number;
  readonly files: readonly { readonly name: string; readonly text: string }[];
}

const key = "files";

/**
 * Puts the files in force in all halls; none withdraws those that were. Every hall obeys once this
 * resolves. Throws UNAVAILABLE.
 */
export async function publishPolicies(
  settings: Settings,
  files: readonly PolicyFile[],
): Promise<void> {
  await withBoard(requireDatabase(settings), async (board) => {
    const kept = await readCopy(board);
    await board.edit("policies", key, (text) => {
      const revision = Math.max(kept?.revision ?? 0, parse(text)?.revision ?? 0) + 1;
      const named = files.map(({ file, text: policies }) => ({
        name: basename(file),
        text: policies,
      }));
      return JSON.stringify({ revision, files: named } satisfies Published);
    });
  });
  const reason = files.length > 0 ? "published for all halls" : "no longer published";
  await recordInProject(settings, {
    decision: { kind: "changed", subjects: ["policies"], reason },
  });
}

/** For a command: the files that all halls obey; none without `store.url`. Throws UNAVAILABLE. */
export async function readPublished(settings: Settings): Promise<readonly PolicyFile[]> {
  let published: Published | undefined;
  await withBoard(settings, (board) =>
    board.edit("policies", key, (text) => {
      published = parse(text);
      return text;
    }),
  );
  return filesOf(published);
}

/**
 * Makes this hall obey what is published. A copy on this machine counts while the database is away, and if the row was
 * removed or set back there. Returns what to do after joining.
 */
export async function followPolicies(
  board: Board,
  adopt: (files: SharedFiles) => Promise<void>,
): Promise<() => Promise<void>> {
  let known = await readCopy(board);
  if (known) await adopt(filesOf(known));
  const obey = async (published: Published): Promise<void> => {
    known = published;
    await adopt(filesOf(published));
    await replacePrivate(copyOf(board), JSON.stringify(published));
  };
  board.on("policies", async (_key, text) => {
    const row = parse(text);
    if (row && row.revision > (known?.revision ?? 0)) await obey(row);
  });
  board.onWhole(async () => {
    if (!known) await obey(nonePublished);
  });
  return async () => {
    if (!known) await adopt("unknown");
  };
}

const nonePublished: Published = { revision: 0, files: [] };

/** Throws INVALID_PARAMS without a database that halls share. */
export function requireDatabase(settings: Settings): Settings {
  if (settings.config.store.url !== undefined) return settings;
  throw new HallError("INVALID_PARAMS", "there are no other halls: store.url is not set", {
    hint: "The policy files of this machine count here without being published.",
    // A project's file cannot set it.
    next: [{ do: "edit-config", field: "store.url", file: userFileOf(process.env) }],
  });
}

function copyOf({ key: { team } }: Board): string {
  return join(makePrivateFolder(join(dataFolder(), "policies")), `${team}.json`);
}

async function readCopy(board: Board): Promise<Published | undefined> {
  return parse(await readFile(copyOf(board), "utf8").catch(() => undefined));
}

/** Only halls of the team can write a row. */
function parse(text: string | undefined): Published | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Published);
}

function filesOf(published: Published | undefined): readonly PolicyFile[] {
  return (published?.files ?? []).map(({ name, text }) => ({
    file: `published/${name}`,
    text,
    isProject: false,
  }));
}
