import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { HallError } from "./errors.ts";
import { makePrivateFolder, replacePrivate } from "./files.ts";
import { loadUserKey, readOwnFile, readUserKey } from "./user-key.ts";

/**
 * Secrets on disk: one encrypted file each, in a folder that only this user can use, with the key beside them. The id
 * is authenticated too, so that a file cannot be put in the place of another.
 */
export interface SealedFiles {
  /** Undefined if there is none. Throws DENIED if the file was changed, or is not this user's alone. */
  read(id: string): string | undefined;
  write(id: string, text: string): Promise<void>;
  /** True if there was one. */
  remove(id: string): Promise<boolean>;
}

const algorithm = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;
const version = 1;

export function openSealedFiles(folder: string): SealedFiles {
  const fileOf = (id: string): string =>
    join(folder, `${createHash("sha256").update(id).digest("hex").slice(0, 32)}.sealed`);

  return {
    read(id) {
      const file = fileOf(id);
      const bytes = readOwnFile(file);
      if (!bytes) return undefined;
      const key = readUserKey(folder);
      const text = key && unseal(bytes, key, id);
      if (text !== undefined) return text;
      throw new HallError("DENIED", `"${file}" cannot be decrypted: it or its key was changed`, {
        hint: "Store the secret again.",
      });
    },
    async write(id, text) {
      makePrivateFolder(folder);
      const key = await loadUserKey(folder);
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, key.subarray(0, 32), iv, {
        authTagLength: tagBytes,
      }).setAAD(Buffer.from(id));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      await replacePrivate(
        fileOf(id),
        Buffer.concat([Buffer.of(version), iv, cipher.getAuthTag(), sealed]),
      );
    },
    remove: (id) =>
      rm(fileOf(id)).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === "ENOENT") return false;
          throw error;
        },
      ),
  };
}

/** Undefined if it is not what was written under this id with this key. */
function unseal(bytes: Buffer, key: Buffer, id: string): string | undefined {
  const start = 1 + ivBytes + tagBytes;
  if (bytes[0] !== version || bytes.length < start) return undefined;
  try {
    const decipher = createDecipheriv(
      algorithm,
      key.subarray(0, 32),
      bytes.subarray(1, 1 + ivBytes),
      { authTagLength: tagBytes },
    )
      .setAAD(Buffer.from(id))
      .setAuthTag(bytes.subarray(1 + ivBytes, start));
    return `${decipher.update(bytes.subarray(start), undefined, "utf8")}${decipher.final("utf8")}`;
  } catch {
    return undefined;
  }
}
