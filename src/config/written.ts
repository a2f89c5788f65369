import { isObject, type JsonObject } from "../base/json.ts";
import type { Config } from "./schema.ts";

/**
 * The secret-bearing fields of an entry of mcpServers before variables are expanded. A person approves
 * which variable goes where; its value may change, but another variable is another secret. Kept under
 * a symbol, as it is not a config field.
 */
export const written = Symbol("written");

/** Only the fields that are present. */
export type Written = Readonly<Partial<Record<(typeof secretParts)[number], JsonObject>>>;

const secretParts = ["env", "headers", "oauth"] as const;

/** Adds to each server what `tree`, the unexpanded files, has for it. */
export function withWritten(config: Config, tree: JsonObject): Config {
  const servers = Object.entries(config.mcpServers).map(([name, entry]) => [
    name,
    { ...entry, [written]: writtenIn(tree, name) },
  ]);
  return { ...config, mcpServers: Object.fromEntries(servers) };
}

function writtenIn({ mcpServers }: JsonObject, name: string): Written {
  const entry =
    isObject(mcpServers) && Object.hasOwn(mcpServers, name) ? mcpServers[name] : undefined;
  return Object.fromEntries(
    secretParts.flatMap((part) =>
      isObject(entry) && isObject(entry[part]) ? [[part, entry[part]]] : [],
    ),
  );
}

/** The variables named in a text. */
export function variablesIn(text: unknown): readonly string[] {
  if (typeof text !== "string") return [];
  return [...text.matchAll(/\$\$\{|\$\{(?:env:)?([A-Za-z_]\w*)/g)].flatMap(([, name]) =>
    name === undefined ? [] : [name],
  );
}
