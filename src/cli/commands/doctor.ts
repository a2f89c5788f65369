import { HallError } from "../../base/errors.ts";
import { visible } from "../../base/sanitize.ts";
import { plural } from "../../base/text.ts";
import {
  type Check,
  diagnoseModules,
  diagnoseServers,
  diagnoseStore,
  repairServers,
  type ServerDiagnosis,
} from "../../hall/doctor.ts";
import { adviceForShell, quoteWord } from "../advice.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { createLive, quiet, reportWaiting } from "../live.ts";
import { paint, print, wrapProse } from "../print.ts";

interface DoctorOptions extends JsonOption {
  readonly fix?: boolean;
}

export async function runDoctor(names: readonly string[], options: DoctorOptions): Promise<void> {
  const settings = await loadProject();
  const store = names.length > 0 ? undefined : await diagnoseStore(settings);
  const modules = names.length > 0 ? undefined : await diagnoseModules(settings);
  const live = options.json ? quiet : createLive();
  live.status("checking the servers …");
  const progress = reportWaiting(live);
  let servers = await diagnoseServers(settings, { names, progress });
  const repaired = options.fix ? await repairServers(servers) : [];
  if (repaired.length > 0) {
    for (const folder of repaired) process.stderr.write(`removed ${visible(folder)}\n`);
    servers = await diagnoseServers(settings, { names, progress });
  }
  const found = [...(store ? [store] : []), ...(modules ? [modules] : []), ...servers];
  const failing = servers.filter(({ ok }) => !ok).length;
  const faults = [
    ...(store ? ["the store needs attention"] : []),
    ...(modules ? [`${plural(modules.checks.length, "module")} cannot be loaded`] : []),
    ...(failing > 0
      ? [
          `${failing} of ${plural(servers.length, "server")} ${failing === 1 ? "needs" : "need"} attention`,
        ]
      : []),
  ];
  const hint = options.json ? "See `details`." : "See the advice above.";
  const failure =
    faults.length === 0 ? undefined : new HallError("UNAVAILABLE", faults.join("; "), { hint });
  print(found, found.map(format).join("\n\n"), { ...options, failure });
}

function format({ name, ok, checks }: ServerDiagnosis): string {
  return [`${mark(ok)} ${paint("bold", name)}`, ...checks.flatMap(formatCheck)].join("\n");
}

function formatCheck({
  what,
  ok,
  advice,
  next = [],
  command,
  stderr = [],
}: Check): readonly string[] {
  const lines = [`  ${mark(ok)} ${visible(what)}`];
  if (advice !== undefined) lines.push(`      ${visible(advice)}`);
  if (next.length > 0) lines.push(`      ${adviceForShell(next)}`);
  const wrapped = lines.map((line) => wrapProse(line));
  // Not wrapped, so that it can be copied.
  if (command) wrapped.push(`      Run it by hand: ${visible(command.map(quoteWord).join(" "))}`);
  if (stderr.length > 0)
    wrapped.push(wrapProse(`      Its stderr: ${stderr.map(visible).join(" | ")}`));
  return wrapped;
}

function mark(ok: boolean): string {
  return ok ? paint("green", "✔") : paint("red", "✘");
}
