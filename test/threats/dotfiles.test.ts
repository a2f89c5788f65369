// Open folders serve documents, never dotfiles, which hold keys and settings.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { Scope } from "../../src/base/scope.ts";
import { loadSource } from "../../src/toolkits/document/source.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "guildhall-dotfiles-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, ".aws"));
for (const name of ["plan.txt", ".env", ".aws/credentials.txt"])
  writeFileSync(join(folder, name), "canary");
symlinkSync(".env", join(folder, "notes.txt"));

async function read(name: string, roots: readonly string[] = ["."]): Promise<string> {
  const { bytes } = await loadSource(pathToFileURL(join(folder, name)).href, {
    fetch: async () => expect.unreachable(),
    roots: () => roots.map((root) => join(folder, root)),
    scope: new Scope(),
  });
  return Buffer.from(bytes).toString();
}

test("a document is never a dotfile, directly, through a link or in a hidden folder", async () => {
  expect(await read("plan.txt")).toBe("canary");
  for (const name of [".env", "notes.txt", ".aws/credentials.txt"])
    await expect(read(name)).rejects.toMatchObject({ code: "DENIED" });
  await expect(read(".env", [".env"])).rejects.toMatchObject({ code: "DENIED" });
  await expect(read(".aws/credentials.txt", [".aws"])).rejects.toMatchObject({ code: "DENIED" });
});
