import type { Client } from "./client.ts";
import { as, excludeTools, usualMeanings } from "./entry.ts";
import { editorReferences } from "./references.ts";

export const windsurf: Client = {
  id: "windsurf",
  name: "Windsurf",
  places: [
    { scope: "user", path: "~/.codeium/windsurf/mcp_config.json", at: ["mcpServers"] },
    // The plugin for other editors.
    { scope: "user", path: "~/.codeium/mcp_config.json", at: ["mcpServers"], isOld: true },
  ],
  references: editorReferences,
  meanings: { ...usualMeanings, serverUrl: as("url"), disabledTools: excludeTools },
};
