import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { defaultConfig, type LoadedConfig } from "../../src/config/load.ts";
import { makeConfigFolder } from "./folder.ts";

/**
 * Each file of test/golden/config is a case: input, a line `----`, output. The input is guildhall.json, or several files and
 * variables behind lines `@file NAME` (`user` is the user's), `@env NAME=value`. The output is what is refused, or what differs
 * from the defaults. `GOLDEN=write npx vitest run test/config` writes the outputs.
 */
const goldenFolder = fileURLToPath(new URL("../golden/config", import.meta.url));

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
  const { files, env } = read(input);
  using folder = makeConfigFolder(files);
  try {
    return show(await folder.load({ env })).replaceAll(`${folder.path}/`, "");
  } catch (error) {
    return `${(error as Error).message.replaceAll(`${folder.path}/`, "")}\n`;
  }
}

function read(input: string): { files: Record<string, string>; env: Record<string, string> } {
  const files: Record<string, string> = {};
  const env: Record<string, string> = {};
  let current = "guildhall.json";
  for (const line of input.split(/(?<=\n)/)) {
    const [, variable, value = ""] = /^@env (\w+)=(.*)\n/.exec(line) ?? [];
    const [, file] = /^@file (\S+)\n/.exec(line) ?? [];
    if (variable) env[variable] = value;
    else if (file) {
      current = file;
      files[file] = "";
    } else files[current] = (files[current] ?? "") + line;
  }
  return { files, env };
}

function show({ config, unusable, warnings, secrets }: LoadedConfig): string {
  const differing = Object.entries(config).filter(
    ([key, value]) =>
      JSON.stringify(value) !== JSON.stringify(defaultConfig[key as keyof typeof defaultConfig]),
  );
  const refused = Object.entries(unusable).flatMap(([name, { problems }]) =>
    problems.map((problem) => `unusable: ${name}: ${problem}\n`),
  );
  const told = [
    ...refused,
    ...warnings.map((warning) => `warning: ${warning}\n`),
    ...secrets.map((secret) => `secret: ${secret}\n`),
  ];
  return `${JSON.stringify(Object.fromEntries(differing), null, 2)}\n${told.join("")}`;
}
