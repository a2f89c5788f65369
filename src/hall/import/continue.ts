import { isObject } from "../../base/json.ts";
import { fieldAt } from "../../config/layer.ts";
import { type Client, mapAt, type Place, type ServerEntry } from "./client.ts";
import { nothing, texts, timeout, usualMeanings } from "./entry.ts";
import { type References, variable, variableName } from "./references.ts";

/** `${{ secrets.NAME }}`, and inputs of a block. */
const references: References = {
  pattern: /\$\{\{\s*(?:[\w-]+\/)*(?:secrets|inputs|env)\.([\w.-]+)\s*\}\}/g,
  read: ([, name = ""]) => variable(variableName(name)),
};

/** `config.yaml` has a list; a folder takes blocks of YAML, and JSON as other clients have it. Earlier it was `config.json`. */
export const continueDev: Client = {
  id: "continue",
  name: "Continue",
  places: [
    { scope: "project", path: "./.continue/mcpServers/*", at: ["mcpServers"] },
    { scope: "user", path: "~/.continue/mcpServers/*", at: ["mcpServers"] },
    { scope: "user", path: "~/.continue/config.yaml", at: ["mcpServers"] },
    {
      scope: "user",
      path: "~/.continue/config.json",
      at: ["experimental", "modelContextProtocolServers"],
      isOld: true,
    },
  ],
  references,
  meanings: {
    ...usualMeanings,
    requestOptions: (options) =>
      isObject(options) ? { ...texts("headers")(options.headers ?? {}) } : {},
    apiKey: (key) => ({ headers: { Authorization: `Bearer ${key}` } }),
    connectionTimeout: nothing,
    timeout: timeout(1000),
    faviconUrl: nothing,
    sourceFile: nothing,
  },
  listsIn(tree, { at }: Place) {
    const list = fieldAt(tree, at);
    return [
      Array.isArray(list)
        ? { entries: list.map((item, index) => entryOf(item, [...at, index])) }
        : mapAt(tree, at),
    ];
  },
};

function entryOf(item: unknown, path: ServerEntry["path"]): ServerEntry {
  if (!isObject(item)) return { name: `server-${Number(path.at(-1)) + 1}`, value: item, path };
  // The oldest form wraps everything in `transport`, and has no name.
  const value = isObject(item.transport)
    ? { ...item.transport, ...(item.name === undefined ? {} : { name: item.name }) }
    : item;
  const args = Array.isArray(value.args) ? value.args : [];
  const name =
    typeof item.name === "string"
      ? item.name
      : String(
          args.findLast((word) => typeof word === "string" && !word.startsWith("-")) ??
            `server-${Number(path.at(-1)) + 1}`,
        );
  return { name, value, path };
}
