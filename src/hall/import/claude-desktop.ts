import type { Client } from "./client.ts";
import { usualMeanings } from "./entry.ts";
import { noReferences } from "./references.ts";

export const claudeDesktop: Client = {
  id: "claude-desktop",
  name: "Claude Desktop",
  places: [
    {
      scope: "user",
      path: {
        linux: "$XDG_CONFIG_HOME/Claude/claude_desktop_config.json",
        darwin: "~/Library/Application Support/Claude/claude_desktop_config.json",
        win32: "$APPDATA/Claude/claude_desktop_config.json",
      },
      at: ["mcpServers"],
    },
    // As an app of the store it is shown a home of its own.
    {
      scope: "user",
      path: {
        win32:
          "$LOCALAPPDATA/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json",
      },
      at: ["mcpServers"],
    },
  ],
  references: noReferences,
  meanings: usualMeanings,
};
