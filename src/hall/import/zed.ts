import { isObject } from "../../base/json.ts";
import type { Client } from "./client.ts";
import { nothing, timeout, usualMeanings } from "./entry.ts";
import { noReferences } from "./references.ts";

/** Part of Zed's settings. A server that an extension brings has no command here: it cannot run outside of Zed. */
export const zed: Client = {
  id: "zed",
  name: "Zed",
  places: [
    { scope: "project", path: "./.zed/settings.json", at: ["context_servers"] },
    {
      scope: "user",
      path: {
        linux: "$XDG_CONFIG_HOME/zed/settings.json",
        darwin: "~/.config/zed/settings.json",
        win32: "$APPDATA/Zed/settings.json",
      },
      at: ["context_servers"],
    },
  ],
  references: noReferences,
  meanings: {
    ...usualMeanings,
    // Once the command was an object of all three.
    command: (command) =>
      isObject(command)
        ? {
            command: command.path,
            ...usualMeanings.args?.(command.args ?? []),
            ...usualMeanings.env?.(command.env ?? {}),
          }
        : { command },
    timeout: timeout(1000),
    source: nothing,
    settings: nothing,
  },
};
