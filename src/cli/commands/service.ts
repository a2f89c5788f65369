import { realpathSync } from "node:fs";
import { HallError } from "../../base/errors.ts";
import { installService, planService, removeService, type Service } from "../../hall/service.ts";
import type { JsonOption } from "../declaration.ts";
import { print } from "../print.ts";
import { askYes, isAttended } from "../terminal.ts";

interface ServiceOptions extends JsonOption {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

export async function runServiceInstall(options: ServiceOptions): Promise<void> {
  const service = plan();
  const { file, text, enable } = service;
  if (!options.json) process.stdout.write(`${file}:\n\n${text}\n${linesOf(enable)}\n`);
  if (options.dryRun)
    return print({ file, text, installed: false }, "nothing was written", options);
  await requireYes("Write this file and start the service?", options);
  const started = await installService(service);
  const done = started
    ? "installed: your own hall runs now, and after each login"
    : "written; no service manager answered, so start it with the lines above";
  print({ file, text, installed: true, started }, done, options);
}

export async function runServiceRemove(options: ServiceOptions): Promise<void> {
  const service = plan();
  const { file, current, disable } = service;
  if (current === undefined) return print({ file, removed: false }, "there is no service", options);
  if (!options.json) process.stdout.write(`${linesOf(disable)}  rm ${file}\n`);
  if (options.dryRun) return print({ file, removed: false }, "nothing was removed", options);
  await requireYes("Stop the service and remove its file?", options);
  const stopped = await removeService(service);
  const rest = stopped
    ? ""
    : "; no service manager answered, so it may still run until you log out";
  print({ file, removed: true, stopped }, `removed ${file}${rest}`, options);
}

function plan(): Service {
  // A service has no shell that could find them.
  return planService({ program: [process.execPath, realpathSync(process.argv[1] ?? "")] });
}

function linesOf(commands: Service["enable"]): string {
  return commands.map((words) => `  ${words.join(" ")}\n`).join("");
}

/** Throws INVALID_PARAMS where nobody can be asked, CANCELLED unless the answer is yes. */
async function requireYes(question: string, options: ServiceOptions): Promise<void> {
  if (options.yes) return;
  if (!isAttended(options))
    throw new HallError("INVALID_PARAMS", "this must be confirmed", {
      hint: "Run it in a terminal, or with --yes.",
    });
  if (!(await askYes(question)))
    throw new HallError("CANCELLED", "nothing was changed", { hint: "Answer y to confirm." });
}
