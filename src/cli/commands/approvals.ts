import { HallError } from "../../base/errors.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { type AdminClient, withRunningHall } from "../../hall/admin-client.ts";
import type { PendingApproval } from "../../hall/admin-contract.ts";
import type { ApprovalAnswer } from "../../trust/approvals.ts";
import type { JsonOption } from "../declaration.ts";
import { createPerson, type Person } from "../person.ts";
import { paint, print } from "../print.ts";
import { askLine, isAttended } from "../terminal.ts";

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
    throw new HallError("INVALID_PARAMS", `--${given.join(" and --")} exclude each other`, {
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
  question: PendingApproval,
  person: Person,
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

function formatPending({
  token,
  caller,
  client,
  preview,
  why,
  expiresAt,
}: PendingApproval): string {
  const seconds = Math.max(0, Math.round((expiresAt - Date.now()) / 1000));
  return [
    `${paint("bold", token)}  requested by ${visible(caller)}, expires in ${seconds} s`,
    // The client's own words end their line, so that they cannot be mistaken for ours.
    `  client name: ${visible(client)}`,
    visibleLines(preview),
    `  reason: ${visible(why)}`,
  ].join("\n");
}
