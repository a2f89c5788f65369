import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ToolkitText } from "../../src/ranking/document.ts";

/** Fleets of servers with the groups they become: `test/agents/group-text.test.ts` says how they are written. */
export const fleetsFolder = fileURLToPath(new URL("../golden/groups", import.meta.url));

/** The toolkits of a fleet, such as "recorded-large", and what its file says of their groups. */
export function readFleet(name: string): {
  toolkits: ToolkitText[];
  input: string;
  groups: string;
} {
  const text = readFileSync(`${fleetsFolder}/${name}.txt`, "utf8");
  const [input = "", groups = ""] = text.split("----\n");
  return { toolkits: parseFleet(input), input, groups };
}

function parseFleet(text: string): ToolkitText[] {
  return text
    .split(/^# /m)
    .filter((part) => part !== "" && !part.startsWith(";"))
    .map((part) => {
      const [id = "", ...lines] = part.trim().split("\n");
      return {
        id,
        tools: lines.map((line) => ({
          name: line.slice(0, line.indexOf(":")),
          description: line.slice(line.indexOf(":") + 2),
        })),
      };
    });
}
