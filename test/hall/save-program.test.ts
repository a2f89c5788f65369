import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { programArea } from "../../src/hall/page/programs.ts";
import { startHall } from "../servers/hall.ts";

test("the page saves a program as a tool of the project, in a language it knows, and replaces no other", async () => {
  await using started = await startHall({});
  const folder = mkdtempSync(join(tmpdir(), "guildhall-save-"));
  try {
    const { saveProgram } = programArea({
      hall: started.hall,
      folder,
      followTrust: async () => {},
      settings: () => Promise.reject(new Error("not used")),
    });
    const caller = { name: "page", scopes: ["admin"] } as never;
    const save = (language: string, code: string) =>
      saveProgram.run({ name: "sum", language, code, description: "Adds.", act: true }, caller);

    expect(await save("js", "1 + 2")).toEqual({
      file: ".guildhall/tools/sum.js",
      tool: "programs__sum",
    });
    const text = readFileSync(join(folder, ".guildhall/tools/sum.js"), "utf8");
    expect(text).toBe('// ---\n// description: "Adds."\n// class: act\n// ---\n1 + 2\n');
    await expect(save("js", "1 + 3")).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(save("python", "1")).rejects.toMatchObject({ code: "INVALID_PARAMS" });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
