// Preloaded with `--import`: writes to $OPENED_FILES the path of every file that the program opens through
// `node:fs`, and at the end how much memory it used.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { resolve } from "node:path";
import { isMainThread } from "node:worker_threads";

const { openSync, writeSync } = fs;
const record = openSync(process.env.OPENED_FILES, "a");
const names = [
  "open",
  "readFile",
  "writeFile",
  "appendFile",
  "createReadStream",
  "createWriteStream",
];

for (const [owner, own] of [
  [fs, names.flatMap((name) => [name, `${name}Sync`])],
  [fs.promises, names],
]) {
  for (const name of own) {
    const original = owner[name];
    if (typeof original !== "function") continue;
    owner[name] = (...args) => {
      const [path] = args;
      if (typeof path === "string") writeSync(record, `${resolve(path)}\n`);
      return original.apply(owner, args);
    };
  }
}
syncBuiltinESMExports();

if (isMainThread)
  process.on("exit", () => writeSync(record, `maxRSS ${process.resourceUsage().maxRSS}\n`));
