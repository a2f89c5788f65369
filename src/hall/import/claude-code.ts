import { isObject } from "../../base/json.ts";
import { fieldAt } from "../../config/layer.ts";
import { type Client, mapAt, type ServerList } from "./client.ts";
import { as, nothing, usualMeanings } from "./entry.ts";
import type { Machine } from "./machine.ts";
import { shellReferences } from "./references.ts";

/** `.mcp.json` of a project; `~/.claude.json` with the user's servers, and each project's own under its folder. */
export const claudeCode: Client = {
  id: "claude-code",
  name: "Claude Code",
  places: [
    { scope: "project", path: "./.mcp.json", at: ["mcpServers"] },
    { scope: "user", path: "$CLAUDE_CONFIG_DIR/.claude.json", at: ["mcpServers"] },
  ],
  references: shellReferences,
  meanings: { ...usualMeanings, oauth: readLogin, alwaysLoad: nothing },
  listsIn(tree, { at }, machine) {
    const projects = fieldAt(tree, ["projects"]);
    const lists = Object.keys(isObject(projects) ? projects : {}).map((folder): ServerList => {
      const list = mapAt(tree, ["projects", folder, "mcpServers"]);
      return isSameFolder(folder, machine) ? list : { ...list, elsewhere: folder };
    });
    // The nearest first: what Claude Code itself would take when two have the same name.
    return [
      ...lists.filter(({ elsewhere }) => elsewhere === undefined),
      mapAt(tree, at),
      ...lists.filter(({ elsewhere }) => elsewhere !== undefined),
    ];
  },
  entryFor: ([command, ...args]) => ({ type: "stdio", command, args }),
};

function readLogin(login: unknown): { oauth?: unknown } {
  if (!isObject(login)) return {};
  const { clientId, callbackPort } = login;
  return clientId === undefined
    ? {}
    : { ...as("oauth")({ clientId, ...(callbackPort === undefined ? {} : { callbackPort }) }) };
}

function isSameFolder(folder: string, machine: Machine): boolean {
  const plain = (path: string): string => path.replaceAll("\\", "/").replace(/\/+$/, "");
  return plain(folder) === plain(machine.folder);
}
