import { isObject, type JsonObject } from "../base/json.ts";
import type { Config } from "./schema.ts";

/**
 * What a file says in an entry of mcpServers where secrets go in, before variables are put in their place. A person approves what is written: whose
 * value goes where. The value itself may change; another variable in the same place is another secret. Beside the entry's fields, as it is none.
 */
export const written = Symbol("written");

/** Only what is there. */
export type Written = Readonly<Partial<Record<(typeof secretParts)[number], JsonObject>>>;

const secretParts = ["env", "headers", "oauth"] as const;

/** The config with what `tree`, the files before any variable was read, says of each server. */
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

/** The variables that a text names. */
export function variablesIn(text: unknown): readonly string[] {
  if (typeof text !== "string") return [];
  return [...text.matchAll(/\$\$\{|\$\{(?:env:)?([A-Za-z_]\w*)/g)].flatMap(([, name]) =>
    name === undefined ? [] : [name],
  );
}
