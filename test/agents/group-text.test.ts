import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { groupTools } from "../../src/agents/grouping/grouping.ts";
import type { ToolkitText } from "../../src/ranking/document.ts";
import { loadVectors } from "../../src/ranking/vectors.ts";

/**
 * Each file of test/golden/groups is a fleet: `# server` and `tool: description`, a line `----`, and what its groups are called, whose tools they have
 * and what they say of themselves. Fleets named "recorded" are definitions of published servers; their first lines name packages and licences.
 * Read the diff as the person who has to choose among them. `GOLDEN=write` writes what they say now.
 */
const goldenFolder = fileURLToPath(new URL("../golden/groups", import.meta.url));
const vectors = loadVectors();

for (const name of readdirSync(goldenFolder)) {
  test(`${name.replace(/\.txt$/, "").replaceAll("-", " ")}: groups read as a person would write them`, () => {
    const [input = "", expected] = readFileSync(join(goldenFolder, name), "utf8").split("----\n");
    const actual = groupTools(parseFleet(input), { vectors })
      .map(({ name, tools, description }) => `${name} (${countServers(tools)}): ${description}\n`)
      .join("");
    if (process.env.GOLDEN === "write")
      writeFileSync(join(goldenFolder, name), `${input}----\n${actual}`);
    else expect(actual).toBe(expected);
  });
}

function countServers(tools: readonly string[]): string {
  const servers = tools.map((tool) => tool.slice(0, tool.indexOf(".")));
  return [...new Set(servers)]
    .map((server) => `${server} ${servers.filter((each) => each === server).length}`)
    .join(", ");
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
