import type { Log } from "../base/log.ts";
import { ConfigError } from "../config/error.ts";
import type { PolicyFile } from "../trust/policy/parse.ts";
import { Policies, type SharedFiles } from "../trust/policy/policies.ts";
import { nameOfSubject } from "../trust/policy/request.ts";
import type { Hall } from "./hall.ts";

/** The policies of a hall that opens. Throws ConfigError for files that cannot be used. */
export async function openPolicies(
  files: readonly PolicyFile[],
  { trust, note }: Pick<Hall, "trust" | "note">,
): Promise<Policies> {
  const policies = new Policies({
    ...(trust ? { marksOf: (target) => trust.judge(target).marks } : {}),
    denied: ({ caller, action, subject }, { reason }) =>
      void note({
        kind: "denied",
        subject: nameOfSubject(subject),
        caller: caller.person?.user ?? "local",
        reason,
        details: { action, client: caller.client },
      }),
  });
  await policies.replace(files);
  if (policies.problems.length > 0) throw new ConfigError(policies.problems);
  return policies;
}

/** Puts edited policy files in force. A broken file closes the hall until it is corrected: everything is denied. */
export async function policiesChanged(
  {
    policies,
    server,
    note,
    log,
  }: Pick<Hall, "policies" | "server" | "note"> & { readonly log: Log },
  files: readonly PolicyFile[],
): Promise<void> {
  await policies.replace(files);
  server.refreshLists();
  const { problems } = policies;
  logChange(policies, log);
  await note({
    kind: "changed",
    subject: "policies",
    caller: "guildhall",
    reason:
      problems.length > 0
        ? "a policy file is broken: everything is denied"
        : "a policy file was edited",
    details: { policies: policies.all.length, problems: problems.slice(0, 3) },
  });
}

/** Obeys the policies that a person has published for all halls. The command that published them is in the audit. */
export async function publishedChanged(
  { policies, server, log }: Pick<Hall, "policies" | "server"> & { readonly log: Log },
  files: SharedFiles,
): Promise<void> {
  if (!policies.isOn && policies.isKnown && files.length === 0) return;
  await policies.replaceShared(files);
  server.refreshLists();
  logChange(policies, log);
}

function logChange({ problems, all }: Policies, log: Log): void {
  for (const problem of problems) log.error(`policies: ${problem}`);
  if (problems.length > 0) log.error("everything is denied until the policies are corrected");
  else log.info({ policies: all.length }, "policies reloaded");
}
