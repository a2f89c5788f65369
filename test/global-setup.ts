import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes the folder for what test files of one run share; see `buildTestCli`. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-cli-"));
  process.env.GUILDHALL_TEST_CLI = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
