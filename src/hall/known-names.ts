import { isObject, type JsonObject } from "../base/json.ts";
import { projectFilesOf, readConfigFiles, userFileOf } from "../config/files.ts";
import { lockedTools, readLock } from "../upstream/lock.ts";
import { parseDocument } from "./import/document.ts";

export interface KnownNames {
  readonly servers: readonly string[];
  /** Full names. */
  readonly tools: readonly string[];
}

/** The names that shells complete: only the files are read, unchecked, so that it is fast. Throws ConfigError. */
export async function readKnownNames(folder: string): Promise<KnownNames> {
  const [files, lock] = await Promise.all([
    readConfigFiles(userFileOf(process.env), projectFilesOf(folder)),
    readLock(folder, () => {}),
  ]);
  const trees = await Promise.all(files.map(({ file, text }) => parseDocument(file, text)));
  const entries = trees.flatMap(({ tree }) => {
    const { mcpServers } = isObject(tree) ? tree : {};
    return Object.entries(isObject(mcpServers) ? mcpServers : {});
  });
  return {
    servers: [...new Set(entries.map(([name]) => name))],
    tools: entries.flatMap(([name, entry]) => {
      const { prefix = name } = (isObject(entry) ? entry : {}) as JsonObject;
      const start = prefix === "" ? "" : `${prefix}.`;
      return (lockedTools(lock, name) ?? []).map((tool) => `${start}${tool}`);
    }),
  };
}
