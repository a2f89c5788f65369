import { openNamedTokens, type TokenOptions } from "../../server/http/tokens.ts";
import type { Board } from "../../store/shared/board.ts";
import type { Settings } from "../settings.ts";
import { withBoard } from "./team.ts";

/** Creates a named token that all halls of the database accept once this resolves. Throws CONFLICT or UNAVAILABLE. */
export async function createToken(
  settings: Settings,
  name: string,
  options: TokenOptions,
): Promise<string> {
  const named = openNamedTokens();
  const token = await named.create(name, options);
  try {
    await withBoard(settings, async (board) => board.put("tokens", name, await named.share(name)));
  } catch (error) {
    await named.adopt(name, undefined);
    throw error;
  }
  return token;
}

/**
 * No hall that reaches the database accepts the token once this resolves. One that is cut off still
 * serves it calls that only read. Throws NOT_FOUND or UNAVAILABLE.
 */
export async function revokeToken(settings: Settings, name: string): Promise<void> {
  const named = openNamedTokens();
  if (!named.list().some((token) => token.name === name)) return named.revoke(name);
  await withBoard(settings, (board) => board.put("tokens", name, undefined));
  await named.adopt(name, undefined);
}

/** Makes this machine's tokens follow what other halls create and revoke. */
export function followTokens(board: Board): void {
  const named = openNamedTokens();
  const there = new Set<string>();
  board.on("tokens", async (name, text) => {
    if (text === undefined) there.delete(name);
    else there.add(name);
    await named.adopt(name, text);
  });
  board.onWhole(async () => {
    // Revoked while no hall ran here.
    const gone = named.list().filter(({ name, isShared }) => isShared && !there.has(name));
    for (const { name } of gone) await named.adopt(name, undefined);
  });
}
