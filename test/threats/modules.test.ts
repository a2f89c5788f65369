// A toolkit module runs inside the hall: only the files that a person approved, as they were approved.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Home, makeHome } from "../servers/home.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** A module that leaves a file where it ran. */
function moduleText(home: Home, name: string, more = ""): string {
  return `import { writeFileSync } from "node:fs";${more}
writeFileSync(${JSON.stringify(home.locate(`~/ran-${name}`))}, "");
export const kit = {
  id: "${name}",
  list: async () => [{ name: "look", inputSchema: { type: "object" } }],
  call: async () => ({ content: [] }),
};`;
}

test("a module that was added or edited after the approval is not loaded, and diff shows it", async () => {
  using home = makeHome({ "./guildhall.json": { toolkits: ["./tools/*.mjs"] } });
  const hasRun = (name: string): boolean => existsSync(home.locate(`~/ran-${name}`));
  const run = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await home.run(cli, args);
    return stdout + stderr;
  };
  home.write("./tools/good.mjs", moduleText(home, "good", 'import "../lib/part.mjs";'));
  home.write("./lib/part.mjs", "");
  await run("tools");
  expect(hasRun("good")).toBe(false);
  await run("verify", "--yes");
  expect(await run("tools")).toContain("good.look");
  expect(hasRun("good")).toBe(true);

  home.write("./tools/z_evil.mjs", moduleText(home, "evil"));
  const listed = await run("tools");
  expect(listed).toContain("good.look");
  expect(listed).not.toContain("evil.look");
  expect(await run("diff")).toMatch(/toolkits of this project\n {2}new: tools\/z_evil\.mjs/);
  expect(await run("trust", "list")).not.toContain("evil.look");

  // Neither the file itself nor what it imports may change.
  for (const [file, text] of [
    ["./tools/good.mjs", moduleText(home, "edited")],
    ["./lib/part.mjs", moduleText(home, "imported")],
  ] as const) {
    const before = home.read(file);
    home.write(file, text);
    expect(await run("tools")).not.toContain("good.look");
    expect(await run("diff")).toContain("tools/good.mjs changed");
    home.write(file, before);
    expect(await run("tools")).toContain("good.look");
  }
  expect(["evil", "edited", "imported"].filter(hasRun)).toEqual([]);

  await run("verify", "--yes");
  expect(await run("tools")).toContain("evil.look");
});
