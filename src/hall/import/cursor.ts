import { isObject } from "../../base/json.ts";
import type { Client } from "./client.ts";
import { type Meaning, usualMeanings } from "./entry.ts";
import { editorReferences } from "./references.ts";

export const cursor: Client = {
  id: "cursor",
  name: "Cursor",
  places: [
    { scope: "project", path: "./.cursor/mcp.json", at: ["mcpServers"] },
    { scope: "user", path: "~/.cursor/mcp.json", at: ["mcpServers"] },
  ],
  references: editorReferences,
  meanings: { ...usualMeanings, auth: readLogin() },
};

/** A client registered by hand: `{CLIENT_ID, CLIENT_SECRET, scopes}`. */
function readLogin(): Meaning {
  return (login) => {
    if (!isObject(login)) return {};
    const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, scopes } = login;
    const scope = Array.isArray(scopes) && scopes.length > 0 ? { scope: scopes.join(" ") } : {};
    return clientId === undefined
      ? {}
      : { oauth: { clientId, ...(clientSecret === undefined ? {} : { clientSecret }), ...scope } };
  };
}
