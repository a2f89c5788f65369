import type { Client, Place } from "./client.ts";
import { nothing, usualMeanings } from "./entry.ts";
import { editorReferences } from "./references.ts";

/** VS Code and its sisters. Servers were once part of the settings; now they have a file of their own, one for each profile. */
export const vscode: Client = {
  id: "vscode",
  name: "VS Code",
  places: [
    { scope: "project", path: "./.vscode/mcp.json", at: ["servers"] },
    ...userPlaces("Code"),
    ...userPlaces("Code - Insiders"),
    ...userPlaces("VSCodium"),
    // What GitHub Copilot keeps outside of any editor.
    { scope: "user", path: "$COPILOT_HOME/mcp-config.json", at: ["mcpServers"], isOld: true },
    { scope: "project", path: "./.vscode/settings.json", at: ["mcp", "servers"], isOld: true },
  ],
  references: editorReferences,
  meanings: { ...usualMeanings, gallery: nothing, dev: nothing, tools: nothing },
  entryFor: ([command, ...args]) => ({ type: "stdio", command, args }),
};

function userPlaces(program: string): Place[] {
  const file = (name: string): Place["path"] => ({
    linux: `$XDG_CONFIG_HOME/${program}/User/${name}`,
    darwin: `~/Library/Application Support/${program}/User/${name}`,
    win32: `$APPDATA/${program}/User/${name}`,
  });
  return [
    { scope: "user", path: file("mcp.json"), at: ["servers"] },
    { scope: "user", path: file("profiles/*/mcp.json"), at: ["servers"], isOld: true },
    { scope: "user", path: file("settings.json"), at: ["mcp", "servers"], isOld: true },
  ];
}
