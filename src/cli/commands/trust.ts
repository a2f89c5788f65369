import { HallError } from "../../base/errors.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { findNear, formatTime, plural } from "../../base/text.ts";
import { type AdminClient, withRunningHall } from "../../hall/admin-client.ts";
import type { ListedApproval, ToolTrust } from "../../hall/admin-contract.ts";
import { verifyServers } from "../../hall/build.ts";
import { findChanges, type ServerChanges, summariseReview } from "../../hall/changes.ts";
import {
  grantTrust,
  isReviewed,
  readToolTrust,
  resetTrust,
  revokeTrust,
  selectGrantable,
} from "../../hall/project-trust.ts";
import type { ServerReview } from "../../hall/review.ts";
import type { Settings } from "../../hall/settings.ts";
import type { ApprovalAnswer } from "../../trust/approvals.ts";
import { describeFlow } from "../../trust/marks.ts";
import { willAsk } from "../../trust/review.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject, unknownName } from "../hall.ts";
import { createWaiting, reportDiscovery } from "../live.ts";
import { type Cell, formatFieldChanges, paint, print, table } from "../print.ts";
import { openReviewer } from "../review.ts";
import { formatReview } from "../review-text.ts";
import {
  askLine,
  confirmationMissing,
  createPerson,
  isAttended,
  type PersonAtTerminal,
  requireYes,
} from "../terminal.ts";

interface TrustCommandOptions extends JsonOption {
  /** Milliseconds since 1970. */
  readonly until?: number;
  readonly yes?: boolean;
}

export async function runTrust(name: string, options: TrustCommandOptions): Promise<void> {
  const settings = await loadProject();
  const tools = selectGrantable(name, await readTools(settings));
  await createPerson().confirm(formatGrant(tools, options));
  await grantTrust(settings, tools, options.until);
  printGranted(tools, options);
}

export async function runTrustAll(options: TrustCommandOptions): Promise<void> {
  const { until } = options;
  const settings = await loadProject();
  const known = await readTools(settings);
  const tools = known.filter(isReviewed);
  const unreviewed = known.filter((tool) => !isReviewed(tool)).map(({ name }) => name);
  const what = `trusting all ${plural(tools.length, "tool")}`;
  if (!options.yes && !isAttended(options)) throw confirmationMissing(what);
  await createPerson().confirm(formatGrant(tools, options));
  await grantTrust(settings, tools, until);
  printGranted(tools, options, unreviewed);
}

export async function runRevoke(name: string, options: JsonOption): Promise<void> {
  const revoked = await revokeTrust(await loadProject(), name);
  const text =
    revoked.length > 0 ? `no longer trusted: ${revoked.join(", ")}` : `${name} was not trusted`;
  print({ revoked }, text, options);
}

export async function runTrustList(server: string | undefined, options: JsonOption): Promise<void> {
  const all = await readTools(await loadProject());
  const tools = all.filter(({ name }) => server === undefined || serverOf(name) === server);
  if (server !== undefined && tools.length === 0) {
    const servers = [...new Set(all.map(({ name }) => serverOf(name)))];
    throw unknownName("server", server, { near: findNear(server, servers), command: "list" });
  }
  const rows = tools.map((tool) => [
    tool.name,
    formatLevel(tool),
    tool.held ?? tool.ask ?? "",
    formatMarks(tool),
  ]);
  const head = ["tool", "trust", "requires approval because", "marks"];
  const value = tools.map(({ definition: _definition, ...tool }) => tool);
  print(value, table(head, rows, { empty: "no tools" }), options);
}

export async function runTrustReset(
  server: string | undefined,
  options: TrustCommandOptions,
): Promise<void> {
  const what = server ?? "this project";
  await requireYes(
    `forgetting all trust in ${what}`,
    `Forget all reviews and trust in ${what}? Its servers will not start until they are reviewed again.`,
    options,
  );
  const forgotten = await resetTrust(await loadProject(), server);
  print(
    { forgotten },
    `forgotten: ${forgotten.map(visible).join(", ") || "nothing was reviewed or trusted"}`,
    options,
  );
}

function serverOf(fullName: string): string {
  return fullName.split(".")[0] ?? "";
}

function readTools(settings: Settings): ReturnType<typeof readToolTrust> {
  return createWaiting().during("reading the tools", readToolTrust(settings));
}

/** The question that a person confirms. */
function formatGrant(
  tools: readonly ToolTrust[],
  { until }: Pick<TrustCommandOptions, "until">,
): string {
  const rows = tools.map((tool) => [tool.name, tool.ask ?? "", formatMarks(tool)]);
  return [
    table(["tool", "requires approval because", "marks"], rows),
    `You are about to allow calls of ${plural(tools.length, "tool")} without approval${formatUntil(until)}.`,
  ].join("\n");
}

function printGranted(
  tools: readonly ToolTrust[],
  options: TrustCommandOptions,
  unreviewed?: readonly string[],
): void {
  const { until } = options;
  const names = tools.map((tool) => tool.name);
  const value = {
    trusted: names,
    until: until === undefined ? undefined : new Date(until).toISOString(),
    notCovered: unreviewed,
  };
  const text = [
    `trusted${formatUntil(until)}: ${names.join(", ") || "nothing"}`,
    ...formatUnreviewed(unreviewed ?? []),
  ];
  print(value, text.join("\n"), options);
}

function formatUnreviewed(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  return [`not covered until reviewed (\`guildhall verify\`): ${names.map(visible).join(", ")}`];
}

function formatUntil(until: number | undefined): string {
  return until === undefined ? "" : ` until ${formatTime(until)}`;
}

function formatLevel({ level, held, until }: ToolTrust): Cell {
  if (held !== undefined) return { text: "held", style: "red" };
  return `${level}${formatUntil(until)}`;
}

function formatMarks({ marks }: ToolTrust): string {
  return [marks.effect, ...describeFlow(marks)].join(", ");
}

interface ApproveOptions extends JsonOption {
  readonly always?: boolean;
  readonly hall?: boolean;
  readonly no?: boolean;
}

export async function runApprovals(options: JsonOption): Promise<void> {
  await withRunningHall(process.cwd(), async (admin) => {
    const { pending } = await admin.ask("approvals", {});
    if (isAttended(options) && pending.length > 0) {
      const person = createPerson();
      for (const question of pending) await answerOne(admin, question, person);
      return;
    }
    const text = pending.map(formatPending).join("\n\n") || "no calls wait for approval";
    print(pending, text, options);
  });
}

export async function runApprove(token: string, options: ApproveOptions): Promise<void> {
  const answer = readAnswer(options);
  const { tool } = await withRunningHall(process.cwd(), async (admin) => {
    const { pending } = await admin.ask("approvals", {});
    const question = pending.find((call) => call.token === token);
    // An unknown token is reported by the hall.
    if (question && answer !== "no") await createPerson().confirm(formatPending(question));
    return admin.ask("approve", { token, answer });
  });
  print({ tool, answer }, `${visible(tool)}: ${effects[answer]}`, options);
}

const effects: Readonly<Record<ApprovalAnswer, string>> = {
  once: "this call is allowed once",
  hall: "calls are allowed while this hall runs",
  always: "calls are allowed from now on",
  no: "the call is denied",
};

function readAnswer(options: ApproveOptions): ApprovalAnswer {
  const given = (["always", "hall", "no"] as const).filter((answer) => options[answer]);
  if (given.length > 1)
    throw new HallError("INVALID_PARAMS", `--${given.join(" and --")} cannot be combined`, {
      hint: "Give one of them, or none to allow this call only.",
    });
  return given[0] ?? "once";
}

/** The numbers are those that `guildhall call` shows for the same question. */
const keys: Readonly<Record<string, ApprovalAnswer>> = {
  1: "once",
  2: "hall",
  3: "always",
  4: "no",
  y: "once",
  once: "once",
  h: "hall",
  hall: "hall",
  a: "always",
  always: "always",
  n: "no",
  no: "no",
};

async function answerOne(
  admin: AdminClient,
  question: ListedApproval,
  person: PersonAtTerminal,
): Promise<void> {
  process.stdout.write(`\n${formatPending(question)}\n`);
  let answer: ApprovalAnswer | undefined;
  for (let given = "?"; given !== "" && answer === undefined; ) {
    given = await askLine("1: once, 2: while this hall runs, 3: always, 4: no, Enter: later > ");
    answer = keys[given.toLowerCase()];
  }
  if (answer === undefined) return;
  if (answer !== "no") await person.confirm("You are about to allow calls.");
  try {
    const { tool } = await admin.ask("approve", { token: question.token, answer });
    process.stdout.write(`${visible(tool)}: ${effects[answer]}\n`);
  } catch (error) {
    // Answered elsewhere, or expired; continue with the next one.
    if (!(error instanceof HallError && error.code === "NOT_FOUND")) throw error;
    process.stdout.write(`${error.message}\n`);
  }
}

function formatPending({ token, caller, client, preview, why, expiresAt }: ListedApproval): string {
  const seconds = Math.max(0, Math.round((expiresAt - Date.now()) / 1000));
  return [
    `${paint("bold", token)}  requested by ${visible(caller)}, expires in ${seconds} s`,
    // The client's own words end their line, so that they cannot be mistaken for ours.
    `  client name: ${visible(client)}`,
    visibleLines(preview),
    `  reason: ${visible(why)}`,
  ].join("\n");
}

export async function runVerify(
  server: string | undefined,
  options: JsonOption & { readonly yes?: boolean },
): Promise<void> {
  const reviewer = openReviewer(options);
  const { reviews, modules, texts, down } = await verifyServers(await loadProject(), {
    server,
    reviewer,
    progress: reportDiscovery(options.json),
  });
  const noAnswer =
    down.length === 0
      ? undefined
      : new HallError("UNAVAILABLE", `could not review ${down.join(", ")}: no answer`, {
          next: [{ do: "run-command", command: "doctor" }],
        });
  const failure = reviewer?.refusal() ?? noAnswer;
  const lines = [
    ...reviews.map((review) => formatResult(review, isAttended(options))),
    ...modules.map((file) => approved(file, "it runs in the process of the project's toolkits")),
    ...texts.map((name) => approved(name, "models may read it")),
  ];
  const text = lines.length > 0 ? lines.join("\n") : "nothing was approved";
  const value = { servers: reviews.map(summariseReview), modules, texts };
  print(value, text, { ...options, failure });
}

function approved(name: string, meaning: string): string {
  return `${paint("green", "✔")} ${visible(name)} approved: ${meaning}`;
}

/** With --yes the review itself is printed too, because nobody has seen it. */
function formatResult(review: ServerReview, wasAsked: boolean): string {
  const { name, isApproved, isOpen, tools, failure } = review;
  if (failure !== undefined) return wasAsked ? "" : formatReview(review);
  const asking = tools.filter(willAsk).length;
  const summary = isApproved
    ? `${paint("green", "✔")} ${name} approved: ${plural(tools.length, "tool")}, ${asking} require approval`
    : `${paint("yellow", "–")} ${name} not approved; what is new in it is not used`;
  return wasAsked || !isOpen ? summary : `${formatReview(review)}\n${summary}`;
}

export async function runDiff(server: string | undefined, options: JsonOption): Promise<void> {
  const changes = await createWaiting().during(
    "comparing the servers with their reviews",
    findChanges(await loadProject(), server),
  );
  print(changes, formatAll(changes), options);
}

function formatAll(changes: readonly ServerChanges[]): string {
  const shown = changes
    .filter(
      ({ reached, eased, changed, again, added, gone }) =>
        reached !== undefined ||
        eased !== undefined ||
        changed.length + again.length + added.length + gone.length > 0,
    )
    .map(formatChanges);
  return shown.length > 0
    ? `${shown.join("\n\n")}\n\nApprove the changes with \`guildhall verify\`.`
    : "no known changes since the last review";
}

function formatChanges(changes: ServerChanges): string {
  const { name, reached, eased, changed, again, added, gone } = changes;
  const lines = [paint("bold", name)];
  if (reached && reached.before !== reached.now)
    lines.push(
      paint("red", `  - ${visible(reached.before)}`),
      paint("green", `  + ${visible(reached.now)}`),
    );
  else if (reached && reached.hidden.length === 0)
    lines.push("  a hidden value, or a file that it runs, changed");
  for (const value of reached?.hidden ?? []) lines.push(`  the value of ${visible(value)} changed`);
  if (eased)
    lines.push(
      paint("red", `  - your config: ${visible(eased.before) || "nothing"}`),
      paint("green", `  + your config: ${visible(eased.now) || "nothing"}`),
    );
  for (const tool of changed)
    lines.push(
      `  ${paint("yellow", `${visible(tool.name)} changed`)}\n${formatFieldChanges(tool.fields)}`,
    );
  if (again.length > 0)
    lines.push(
      `  reviewed by version 0.1, which did not show all of it: ${again.map(visible).join(", ")}`,
    );
  if (added.length > 0) lines.push(`  new: ${added.map(visible).join(", ")}`);
  if (gone.length > 0) lines.push(`  removed: ${gone.map(visible).join(", ")}`);
  return lines.join("\n");
}
