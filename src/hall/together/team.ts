import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { dataFolder } from "../../base/files.ts";
import { loadUserKey } from "../../base/user-key.ts";
import type { Board } from "../../store/shared/board.ts";
import type { Settings } from "../settings.ts";
import type { SharedOwn } from "./shared-own.ts";

/**
 * The rows that this project's halls share; undefined without `store.url`. Loaded only then, so that a hall with a file
 * starts without it.
 */
export async function openBoard(settings: Settings): Promise<Board | undefined> {
  const { config, folder, log } = settings;
  const { url, key } = config.store;
  if (url === undefined) return undefined;
  const secret = key ?? (await loadUserKey(join(dataFolder(), "trust")));
  const [{ Board: SharedBoard }, { TeamKey }] = await Promise.all([
    import("../../store/shared/board.ts"),
    import("../../store/shared/team-key.ts"),
  ]);
  return new SharedBoard({ url, key: new TeamKey(secret, await realpath(folder)), log });
}

/** For a command, or one change: does not join the others. Undefined without `store.url`. */
export async function withBoard<T>(
  settings: Settings,
  use: (board: Board) => Promise<T>,
): Promise<T | undefined> {
  const board = await openBoard(settings);
  if (!board) return undefined;
  try {
    return await use(board);
  } finally {
    await board.close();
  }
}

/** For a command: logins and people's secrets that several halls share; undefined without `store.url`. */
export async function withOwn<T>(
  settings: Settings,
  use: (own: SharedOwn | undefined) => Promise<T>,
): Promise<T> {
  const board = await openBoard(settings);
  if (!board) return use(undefined);
  const { shareOwn } = await import("./shared-own.ts");
  const own = shareOwn(board);
  try {
    await board.join();
    return await use(own);
  } finally {
    await board.close();
  }
}
