import { HallError } from "../../base/errors.ts";
import { visible, visibleLines } from "../../base/text.ts";
import { type AdminClient, connectAdmin } from "../../hall/admin-client.ts";
import type { PendingApproval } from "../../hall/admin-contract.ts";
import { socketPath } from "../../hall/socket.ts";
import type { ApprovalAnswer } from "../../trust/approvals.ts";
import { paint, print } from "../print.ts";
import { askLine, isAttended } from "../terminal.ts";

export interface ApprovalsOptions {
  readonly json?: boolean;
}

export interface ApproveOptions {
  readonly always?: boolean;
  readonly hall?: boolean;
  /** Commander's way to say `--no`. */
  readonly no?: boolean;
  readonly json?: boolean;
}

/** The calls that wait for a person's yes; on a terminal they are answered one by one. */
export async function runApprovals(options: ApprovalsOptions): Promise<void> {
  await withRunningHall(async (admin) => {
    const { pending } = await admin.ask("approvals", {});
    const isAsking = isAttended(options) && pending.length > 0;
    if (!isAsking) {
      print(pending, {
        json: options.json,
        text: () =>
          pending.length > 0 ? pending.map(describe).join("\n\n") : "no call waits for approval",
      });
      return;
    }
    for (const question of pending) await answerOne(admin, question);
  });
}

/** Answers one call by its token. */
export async function runApprove(token: string, options: ApproveOptions): Promise<void> {
  const answer = readAnswer(options);
  const { tool } = await withRunningHall((admin) => admin.ask("approve", { token, answer }));
  print({ tool, answer }, { json: options.json, text: () => `${visible(tool)}: ${said[answer]}` });
}

const said: Readonly<Record<ApprovalAnswer, string>> = {
  once: "this call may run, once",
  hall: "may run while this hall runs",
  always: "may run from now on",
  no: "was refused",
};

function readAnswer({ always, hall, no }: ApproveOptions): ApprovalAnswer {
  const given: readonly ApprovalAnswer[] = [
    always ? "always" : undefined,
    hall ? "hall" : undefined,
    no ? "no" : undefined,
  ].filter((word): word is ApprovalAnswer => word !== undefined);
  if (given.length > 1)
    throw new HallError("INVALID_PARAMS", `--${given.join(" and --")} say different things`, {
      hint: "Give one of them, or none for this call only.",
    });
  return given[0] ?? "once";
}

const keys: Readonly<Record<string, ApprovalAnswer>> = {
  y: "once",
  once: "once",
  h: "hall",
  hall: "hall",
  a: "always",
  always: "always",
  n: "no",
  no: "no",
};

async function answerOne(admin: AdminClient, question: PendingApproval): Promise<void> {
  process.stdout.write(`\n${describe(question)}\n`);
  let answer: ApprovalAnswer | undefined;
  for (let given = "?"; given !== "" && answer === undefined; ) {
    given = await askLine("y: once, h: while this hall runs, a: always, n: no, Enter: later > ");
    answer = keys[given.toLowerCase()];
  }
  if (answer === undefined) return;
  try {
    const { tool } = await admin.ask("approve", { token: question.token, answer });
    process.stdout.write(`${visible(tool)}: ${said[answer]}\n`);
  } catch (error) {
    // Answered elsewhere, or too late: the others still wait.
    if (!(error instanceof HallError && error.code === "NOT_FOUND")) throw error;
    process.stdout.write(`${error.message}\n`);
  }
}

function describe({ token, caller, client, preview, why, expiresAt }: PendingApproval): string {
  const seconds = Math.max(0, Math.round((expiresAt - Date.now()) / 1000));
  // What a stranger says of itself stands last on its line: it cannot pass for our words.
  const head = [
    `${paint("bold", token)}  asked by ${visible(caller)}, ${seconds} s left`,
    `  which says of itself: ${visible(client)}`,
  ];
  return [...head, visibleLines(preview), `  because ${visible(why)}`].join("\n");
}

async function withRunningHall<T>(work: (admin: AdminClient) => Promise<T>): Promise<T> {
  const admin = await connectAdmin(await socketPath(process.cwd()));
  if (!admin)
    throw new HallError("UNAVAILABLE", "no hall is running in this project, so no call waits", {
      hint: "`guildhall trust NAME` allows a tool without a call.",
    });
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}
