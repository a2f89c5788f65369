import { isObject } from "../../base/json.ts";
import { fieldAt } from "../../config/layer.ts";
import { type Client, mapAt, type Place } from "./client.ts";
import { nothing, texts, usualMeanings } from "./entry.ts";
import { type References, variable } from "./references.ts";

/** `{env:NAME}`; `{file:…}` is text of another file, which only opencode reads. */
const references: References = {
  pattern: /\{(env|file):([^{}]+)\}/g,
  read: ([, kind, name = ""]) =>
    kind === "env" && /^[A-Za-z_]\w*$/.test(name) ? variable(name) : undefined,
};

/** Servers stand under `mcp`, or since version 2 under `mcp.servers`; the older form still works there. */
export const opencode: Client = {
  id: "opencode",
  name: "opencode",
  places: [
    ...[
      "opencode.json",
      "opencode.jsonc",
      ".opencode/opencode.json",
      ".opencode/opencode.jsonc",
    ].map((name): Place => ({ scope: "project", path: `./${name}`, at: ["mcp"] })),
    ...["opencode.json", "opencode.jsonc"].map(
      (name): Place => ({ scope: "user", path: `$XDG_CONFIG_HOME/opencode/${name}`, at: ["mcp"] }),
    ),
  ],
  references,
  meanings: {
    ...usualMeanings,
    command: (command) =>
      Array.isArray(command) ? { command: command[0], args: command.slice(1) } : { command },
    environment: texts("env"),
    // How long listing may take there: not a call's time.
    timeout: nothing,
    oauth: nothing,
  },
  listsIn: (tree) => [mapAt(tree, mapIn(tree))],
  mapIn,
  entryFor: (command) => ({ type: "local", command }),
};

/** Where the map is in this file. */
function mapIn(tree: unknown): readonly string[] {
  const inner = fieldAt(tree, ["mcp", "servers"]);
  return isObject(inner) && typeof inner.type !== "string" ? ["mcp", "servers"] : ["mcp"];
}
