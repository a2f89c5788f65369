import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { groupTools } from "../../src/agents/grouping/grouping.ts";
import { loadVectors } from "../../src/ranking/vectors.ts";
import { fleetsFolder, readFleet } from "../servers/fleets.ts";

/**
 * Each file of test/golden/groups is a fleet: `# server` and `tool: description`, a line `----`,
 * and what its groups are called, whose tools they have and what they say of themselves. Fleets
 * named "recorded" are definitions of published servers; their first lines name packages and
 * licences. Read the diff as the person who has to choose among them. `GOLDEN=write` writes what
 * they say now.
 */
const vectors = loadVectors();

for (const file of readdirSync(fleetsFolder)) {
  test(`${file.replace(/\.txt$/, "").replaceAll("-", " ")}: groups read as a person would write them`, () => {
    const { toolkits, input, groups } = readFleet(file.replace(/\.txt$/, ""));
    const actual = groupTools(toolkits, { vectors })
      .map(({ name, tools, description }) => `${name} (${countServers(tools)}): ${description}\n`)
      .join("");
    if (process.env.GOLDEN === "write")
      writeFileSync(join(fleetsFolder, file), `${input}----\n${actual}`);
    else expect(actual).toBe(groups);
  });
}

function countServers(tools: readonly string[]): string {
  const servers = tools.map((tool) => tool.slice(0, tool.indexOf(".")));
  return [...new Set(servers)]
    .map((server) => `${server} ${servers.filter((each) => each === server).length}`)
    .join(", ");
}
