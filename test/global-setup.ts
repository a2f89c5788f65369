import { mkdtempSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Makes the folder for what test files of one run share; see `buildTestCli`. */
export default function setup(): () => void {
  // Below our own node_modules: the SQLite addon, which is not bundled, is found there.
  const folder = mkdtempSync(
    fileURLToPath(new URL("../node_modules/.guildhall-", import.meta.url)),
  );
  process.env.GUILDHALL_TEST_CLI = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
