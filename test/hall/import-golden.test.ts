import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ImportPlaces, Platform } from "../../src/hall/import/document.ts";
import { type Findings, findServers, findUnset } from "../../src/hall/import/import.ts";

/**
 * Each file of test/golden/import is a case: files of clients behind lines `@file PATH` (`~` is the home, `.` the project), variables behind
 * `@env NAME=value`, `@platform NAME`, a line `----`, then what was found. `GOLDEN=write npx vitest run test/hall/import-golden` writes the outputs.
 */
const goldenFolder = fileURLToPath(new URL("../golden/import", import.meta.url));

for (const name of readdirSync(goldenFolder)) {
  test(name.replace(".txt", "").replaceAll("-", " "), async () => {
    const [input = "", expected] = readFileSync(join(goldenFolder, name), "utf8").split("----\n");
    const actual = await outputOf(input);
    if (process.env.GOLDEN === "write")
      writeFileSync(join(goldenFolder, name), `${input}----\n${actual}`);
    else expect(actual).toBe(expected);
  });
}

async function outputOf(input: string): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), "guildhall-import-"));
  try {
    const machine = readCase(input, root);
    const findings = await findServers({ machine, ownScript: "/opt/guildhall/dist/cli.js" });
    return show(findings, machine).replaceAll(root, "");
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Writes the files of a case and says where they are. */
function readCase(input: string, root: string): ImportPlaces {
  const home = join(root, "home", "me");
  const folder = join(home, "project");
  const env: Record<string, string> = { HOME: home };
  const files: Record<string, string> = {};
  let platform: Platform = "linux";
  let current = "";
  for (const line of input.split(/(?<=\n)/)) {
    const [, directive, rest = ""] = /^@(env|file|platform) (.*)\n/.exec(line) ?? [];
    if (directive === "env") env[rest.split("=", 1)[0] ?? ""] = rest.slice(rest.indexOf("=") + 1);
    else if (directive === "platform") platform = rest as Platform;
    else if (directive === "file") current = rest.replace(/^~/, home).replace(/^\./, folder);
    else if (current)
      files[current] = (files[current] ?? "") + line.replaceAll("{project}", folder);
  }
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return { platform, home, env, folder };
}

function show({ servers, warnings, files, secrets }: Findings, { env }: ImportPlaces): string {
  const lines = servers.map(({ name, server, sightings, notes, elsewhere }) => {
    const from = `from ${sightings.map(({ place }) => place).join(", ")}${elsewhere === undefined ? "" : `, for ${elsewhere}`}`;
    return `${name}: ${JSON.stringify(server)}\n  ${[from, ...notes].join("\n  ")}\n`;
  });
  const unset = [...new Set(servers.flatMap(({ server }) => findUnset(server, env)))].map(
    (name) => {
      const secret = secrets.find(({ variable }) => variable === name);
      return `export ${name}=…${secret ? `  # stands in ${secret.place}` : ""}\n`;
    },
  );
  const halls = files
    .filter(({ hasHall }) => hasHall)
    .map(({ client }) => `the hall is in ${client}\n`);
  return [...lines, ...unset, ...warnings.map((warning) => `warning: ${warning}\n`), ...halls].join(
    "",
  );
}
