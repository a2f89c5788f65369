import { createHash, createHmac } from "node:crypto";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hashOf, isObject, type JsonObject } from "../../src/base/json.ts";
import { type Home, makeHome } from "./home.ts";

const fixture = fileURLToPath(new URL("version-0.1", import.meta.url));

/** The port of `docs`, which is part of its approval. */
export const docsPort = 18_734;
/** The token of `ci`, which version 0.1 showed once. */
export const ciToken = "DgFT2-OwCvlAiQy6r0BTTyW7ohL21t369fKsbFg2Y5w";

/** A home in which version 0.1 was used; see `version-0.1/README.md`. Nobody has said yes to anything since. */
export function makeOldHome(): Home {
  const home = makeHome();
  rmSync(home.locate("~/.config"), { recursive: true });
  const data = home.locate("~/.local/share/guildhall");
  // The key comes first: a store that is older than the user's first approval is a clone's.
  cpSync(join(fixture, "data"), data, { recursive: true });
  signAgain(join(data, "trust"), home.project);
  for (const name of readdirSync(data, { recursive: true, encoding: "utf8" }))
    chmodSync(join(data, name), name === "trust" ? 0o700 : 0o600);
  mkdirSync(home.locate("~/servers"));
  cpSync(join(fixture, "server.mjs"), home.locate("~/servers/server.mjs"));
  cpSync(join(fixture, "project"), home.project, { recursive: true });
  return home;
}

/** The approvals name their project, and so does the name of their file. */
function signAgain(folder: string, project: string): void {
  const [name = ""] = readdirSync(folder).filter((file) => file.endsWith(".json"));
  const { signature: _old, ...body } = readJson(join(folder, name));
  const moved = { ...body, project };
  const key = readFileSync(join(folder, "key"));
  const signature = createHmac("sha256", key).update(hashOf(moved)).digest("base64url");
  rmSync(join(folder, name));
  const path = createHash("sha256").update(project).digest("hex").slice(0, 32);
  writeFileSync(join(folder, `${path}.json`), JSON.stringify({ ...moved, signature }));
}

function readJson(file: string): JsonObject {
  const value: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!isObject(value)) throw new Error(`${file} has no object`);
  return value;
}
