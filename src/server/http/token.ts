import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { dataFolder } from "../../base/data-folder.ts";
import { HallError } from "../../base/errors.ts";

const tokenCharactersMin = 16;

/** A token somebody chose on purpose. Throws when the file cannot be read or holds too little. */
export async function readTokenFile(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new HallError("NOT_FOUND", `the token file ${file} cannot be read (${cause.code})`, { cause, hint: "Check the path given with --token-file." });
  });
  const token = text.trim();
  if (token.length >= tokenCharactersMin && !/\s/.test(token)) return token;
  throw new HallError("DENIED", `the token in ${file} must be one word of at least ${tokenCharactersMin} characters`, {
    hint: "Make one with: openssl rand -hex 32",
  });
}

/** This user's own token, made at first start and readable by nobody else. */
export async function loadOwnToken(folder: string = dataFolder()): Promise<string> {
  const file = join(folder, "token");
  const known = await readFile(file, "utf8").catch(() => "");
  if (known.trim() !== "") return known.trim();
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const token = randomBytes(32).toString("base64url");
  try {
    await writeFile(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    // Two halls started at once, or the file was empty: whoever wrote first is right.
    const other = (await readFile(file, "utf8")).trim();
    if (other !== "") return other;
    await writeFile(file, `${token}\n`, { mode: 0o600 });
    await chmod(file, 0o600);
  }
  return token;
}
