import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Secrets } from "../../src/base/log.ts";
import { makeProjectFolder, openProjectFile } from "../../src/base/project-files.ts";
import { readFeatures } from "../../src/tui/loader.ts";
import { openRunLog } from "../../src/tui/output.ts";
import { showResult } from "../../src/tui/result.ts";
import { makeFolder } from "./client-bench.ts";

interface Hostile extends Disposable {
  readonly folder: string;
  readonly elsewhere: string;
}

/** A project, and a folder that no link in it may lead to. */
function makeHostile(): Hostile {
  const [folder, elsewhere] = [makeFolder(), makeFolder()];
  const end = (): void => {
    for (const one of [folder, elsewhere]) rmSync(one, { recursive: true, force: true });
  };
  return { folder, elsewhere, [Symbol.dispose]: end };
}

function makePipe(path: string): void {
  execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", path]);
}

test("a feature that is a pipe, a link or too large does not hide or block others", async () => {
  using place = makeHostile();
  const { folder, elsewhere } = place;
  for (const name of ["001-good", "002-pipe", "003-link", "004-large"])
    mkdirSync(join(folder, "specs", name), { recursive: true });
  writeFileSync(join(folder, "specs", "001-good", "spec.md"), "# Feature Specification: Good\n");
  // Eight of them would be enough to stop all reading of files in the process.
  for (const name of ["spec.md", "plan.md", "tasks.md"])
    makePipe(join(folder, "specs", "002-pipe", name));
  writeFileSync(join(elsewhere, "secret"), "# Feature Specification: Secret\n");
  symlinkSync(join(elsewhere, "secret"), join(folder, "specs", "003-link", "spec.md"));
  writeFileSync(join(folder, "specs", "004-large", "spec.md"), "");
  truncateSync(join(folder, "specs", "004-large", "spec.md"), 200_000_000);
  const { items, unreadable } = await readFeatures(folder);
  expect(items.map(({ name, files }) => ({ name, files }))).toEqual([
    { name: "001-good", files: ["spec.md"] },
  ]);
  expect(unreadable).toEqual([
    expect.stringMatching(/^cannot read 002-pipe: .*not a regular file/),
    expect.stringMatching(/^cannot read 003-link: .*link/),
    expect.stringMatching(/^cannot read 004-large: .*exceeds the limit of 2 MiB/),
  ]);
});

test("logs and saved images are never written through a link", async () => {
  using place = makeHostile();
  const { folder, elsewhere } = place;
  mkdirSync(join(folder, ".guildhall"));
  for (const name of ["logs", "saved"]) symlinkSync(elsewhere, join(folder, ".guildhall", name));
  const options = { folder, about: "", tool: "t", secrets: new Secrets(), now: () => new Date() };
  expect(openRunLog(options)).toBe(undefined);
  const picture = { content: [{ type: "image", mimeType: "image/png", data: "AAAA" }] };
  expect(showResult(picture, folder)).toEqual({
    saved: [],
    lines: [{ source: "out", text: expect.stringMatching(/^cannot save the image: .* is a link/) }],
  });
  expect(readdirSync(elsewhere)).toEqual([]);
  rmSync(join(folder, ".guildhall"), { recursive: true });
  makeProjectFolder(folder, ".guildhall/logs");
  const logs = join(folder, ".guildhall/logs");
  symlinkSync(join(elsewhere, "profile"), join(logs, "tui.log"));
  expect(() => openProjectFile(folder, ".guildhall/logs/tui.log")).toThrow();
  makePipe(join(logs, "pipe.log"));
  expect(() => openProjectFile(folder, ".guildhall/logs/pipe.log")).toThrow();
  expect(readdirSync(elsewhere)).toEqual([]);
});

test("a log is private to its owner and has no control characters", async () => {
  using place = makeHostile();
  const { folder } = place;
  const log = openRunLog({
    folder,
    about: "",
    tool: "t",
    secrets: new Secrets(),
    now: () => new Date(),
  });
  log?.note("error: \u001b]0;owned\u0007said \u009b31mso\u202e");
  await log?.close();
  const path = join(folder, String(log?.path));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, "utf8")).toMatch(/error: said so\ufffd\n$/);
});
