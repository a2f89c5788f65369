import { readFile } from "node:fs/promises";
import { HallError } from "../../base/errors.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { plural } from "../../base/text.ts";
import {
  describePolicy,
  explainPolicy,
  openPolicyView,
  type PolicyLine,
  readPerson,
  runPolicyCases,
} from "../../hall/policy-cases.ts";
import { publishPolicies, requireDatabase } from "../../hall/together/shared-policies.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { paint, print, table } from "../print.ts";
import { createPerson } from "../terminal.ts";

/** The policies in the order of their files. */
export async function runPolicyList(options: JsonOption): Promise<void> {
  const { policies } = await openPolicyView(await loadProject(), {
    needsTools: false,
    isShared: true,
  });
  const lines = policies.all.map(describePolicy);
  const rows = lines.map(({ name, effect, place, reads }) => [
    name,
    effect,
    reads.join(", "),
    place,
  ]);
  const head = ["policy", "effect", "depends on", "place"];
  print(lines, table(head, rows, { empty: "no policies" }), options);
}

/** Fails like the hall would, with every problem. */
export async function runPolicyCheck(options: JsonOption): Promise<void> {
  const settings = await loadProject();
  const { policies } = await openPolicyView(settings, { needsTools: false });
  const files = settings.loaded.policies.map(({ file }) => file);
  const needsPermit = policies.all.some(({ effect }) => effect === "permit");
  const count = `${plural(policies.all.length, "policy", "policies")} in ${plural(files.length, "file")}`;
  const rule = needsPermit
    ? "only what a policy permits is allowed"
    : "everything is allowed that no policy forbids";
  const value = { files, policies: policies.all.length, needsPermit };
  const text = policies.isOn
    ? `${count} can be used: ${rule}`
    : "no policy files: nothing is checked";
  print(value, text, options);
}

/** Puts the user's files of this machine in force in all halls, or takes back what was published. */
export async function runPolicyPublish(
  options: JsonOption & { readonly withdraw?: boolean },
): Promise<void> {
  const settings = requireDatabase(await loadProject());
  const { withdraw: isWithdrawn = false } = options;
  const own = settings.loaded.policies.filter(({ isProject }) => !isProject);
  const files = isWithdrawn ? [] : own;
  if (files.length === 0 && !isWithdrawn)
    throw new HallError("NOT_FOUND", "this machine has no policy files to publish", {
      next: [{ do: "run-command", command: "policy publish --withdraw" }],
    });
  // A file that cannot be used would deny everything in all halls.
  if (!isWithdrawn) await openPolicyView(settings, { needsTools: false });
  const names = files.map(({ file }) => visible(file)).join("\n  ");
  await createPerson().confirm(
    isWithdrawn
      ? "Published policies no longer count in any hall of this project."
      : `These policies count in all halls of this project from now on:\n  ${names}`,
  );
  await publishPolicies(settings, files);
  const text = isWithdrawn
    ? "no policies are published any more; each hall obeys the files of its machine"
    : `${plural(files.length, "file")} published: all halls obey them`;
  print({ published: files.map(({ file }) => file) }, text, options);
}

export async function runPolicyExplain(
  principal: string,
  tool: string,
  options: JsonOption & { readonly group?: readonly string[] },
): Promise<void> {
  const named = readPerson(principal);
  const person = named && { ...named, groups: options.group ?? [] };
  const explanation = await explainPolicy(await loadProject(), { person, tool });
  const { user, tool: fullName, decision, listed, why, by, open } = explanation;
  const may = { allowed: "may", denied: "may not", depends: "may sometimes" }[decision];
  const text = [
    `${visible(user)} ${paint(decision === "denied" ? "red" : "green", may)} call ${fullName}: ${visible(why)}.`,
    ...[...by, ...open].map(showPolicy),
    listed ? "" : `${fullName} is not listed to ${visible(user)}.`,
  ];
  print(explanation, text.filter(Boolean).join("\n\n"), options);
}

function showPolicy({ name, place, text, reads }: PolicyLine): string {
  const depends = reads.length > 0 ? `, which depends on ${reads.join(", ")}` : "";
  const lines = visibleLines(text).replace(/^/gm, "  ");
  return `${visible(name)} (${visible(place)})${visible(depends)}:\n${lines}`;
}

export async function runPolicyTest(file: string, options: JsonOption): Promise<void> {
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new HallError("NOT_FOUND", `cannot read "${file}" (${cause.code})`, {
      cause,
      hint: "Check the path.",
    });
  });
  const results = await runPolicyCases(await loadProject(), text);
  const failed = results.filter(({ passed }) => !passed);
  const rows = failed.map(({ number, name, expected, decided, by }) => [
    String(number),
    name,
    expected,
    by.length > 0 ? `${decided} by ${by.join(", ")}` : decided,
  ]);
  const passed = `${results.length - failed.length} of ${plural(results.length, "case")} passed`;
  const report =
    failed.length > 0 ? `${table(["case", "request", "expected", "decided"], rows)}\n` : "";
  const failure =
    failed.length > 0
      ? new HallError("VALIDATION", `${plural(failed.length, "case")} failed`, {
          hint: "Correct the policies or the cases.",
          next: [{ do: "run-command", command: "policy explain PRINCIPAL TOOL" }],
        })
      : undefined;
  print({ passed: failure === undefined, results }, `${report}${passed}`, { ...options, failure });
}
