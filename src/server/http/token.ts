import { randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { dataFolder } from "../../base/data-folder.ts";
import { HallError } from "../../base/errors.ts";
import { placePrivate, replacePrivate } from "../../base/private-file.ts";

const tokenCharactersMin = 16;

/** A token somebody chose on purpose. Throws when the file cannot be read or holds too little. */
export async function readTokenFile(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new HallError("NOT_FOUND", `the token file ${file} cannot be read (${cause.code})`, {
      cause,
      hint: "Check the path given with --token-file.",
    });
  });
  const token = text.trim();
  if (token.length >= tokenCharactersMin && !/\s/.test(token)) return token;
  throw new HallError(
    "DENIED",
    `the token in ${file} must be one word of at least ${tokenCharactersMin} characters`,
    {
      hint: "Make one with: openssl rand -hex 32",
    },
  );
}

/** Whether others on this machine can read it, and so come in with it. Not refused: secrets that are mounted often look like this. */
export async function isOpenToOthers(file: string): Promise<boolean> {
  const { mode } = await stat(file);
  return (mode & 0o077) !== 0;
}

/** This user's own token, made at first start and readable by nobody else. */
export async function loadOwnToken(folder: string = dataFolder()): Promise<string> {
  const file = join(folder, "token");
  const known = await readFile(file, "utf8").catch(() => "");
  if (known.trim() !== "") return known.trim();
  const token = randomBytes(32).toString("base64url");
  if (await placePrivate(file, `${token}\n`)) return token;
  // Two halls started at once, and the other was faster; or the file is empty.
  const other = (await readFile(file, "utf8")).trim();
  if (other !== "") return other;
  await replacePrivate(file, `${token}\n`);
  return token;
}
