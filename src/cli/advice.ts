import { type Advice, adviceCommand, readAdvice, settingOf } from "../base/advice.ts";
import { isObject, type JsonObject, parseJson } from "../base/json.ts";

/** Advice in the words of a shell: commands to type. */
export function adviceForShell(next: readonly Advice[]): string {
  return next.map(shellSentence).join("\n  ");
}

function shellSentence(advice: Advice): string {
  switch (advice.do) {
    case "approve":
      return `Approve this call within ${advice.withinSeconds} s: guildhall approvals`;
    case "trust":
      return `Always allow it: guildhall trust ${advice.tool}`;
    case "verify":
      return `Review it: guildhall ${adviceCommand(advice)}`;
    case "login":
      return `Log in: guildhall ${adviceCommand(advice)}`;
    case "call-tool":
      return `Run: ${callLine(advice.tool, advice.arguments)}`;
    case "run-step":
      return `Run: guildhall ${stepCommand(advice)}`;
    case "set-variable":
      return `Set the environment variable ${advice.name}.`;
    case "edit-config":
      return `Set ${settingOf(advice)} in ${advice.file ?? "guildhall.json"}.`;
    case "retry-after":
      return `Retry in ${advice.seconds} s.`;
    case "run-command":
      return `Run: guildhall ${advice.command}`;
  }
}

/**
 * The advice that helps when the hall ends with this command. No call is left that an approval could release,
 * so only lasting trust, a person at a terminal, or a hall that keeps running helps.
 */
export function adviceWithoutHall(next: readonly Advice[]): readonly string[] {
  const lasting = next.filter((advice) => advice.do !== "approve" && advice.do !== "call-tool");
  const lines = lasting.map(shellSentence);
  if (lasting.length === next.length) return lines;
  return [
    ...lines,
    "Or run the command in a terminal, where you are asked.",
    "With `guildhall serve` running, `guildhall approvals` works too.",
  ];
}

/** Calls inside a run that were blocked because they need approval. */
export function formatBlockedCalls(result: JsonObject, isEphemeral: boolean): readonly string[] {
  const blocked = isObject(result._meta) ? result._meta["guildhall/approvals"] : undefined;
  if (!Array.isArray(blocked) || blocked.length === 0) return [];
  const lines = blocked.filter(isObject).flatMap(({ tool, next }) => {
    const advice = readAdvice(next);
    const steps = isEphemeral ? adviceWithoutHall(advice) : advice.map(shellSentence);
    return [`- ${String(tool)}`, ...steps.map((step) => `    ${step}`)];
  });
  return ["Not done, because these calls need approval:", ...lines];
}

type StepAdvice = Extract<Advice, { readonly do: "run-step" }>;

/** The guildhall command of a workflow step, without the program's name. */
export function stepCommand({ step, arguments: args = {} }: StepAdvice, feature?: string): string {
  if (step === "specify") return 'spec new "…"';
  const { completed, answers, force } = args;
  return [
    "spec run",
    step,
    ...(feature === undefined ? [] : ["--feature", quoteWord(feature)]),
    ...(Array.isArray(completed) ? ["--completed", ...completed.map(String)] : []),
    ...(Array.isArray(answers) ? ['--answer "…" "…"'] : []),
    ...(force === true ? ["--force"] : []),
  ].join(" ");
}

/** The last line of a result: the command that comes next. */
export function nextLine(next: readonly Advice[], feature: string | undefined): string {
  return next
    .filter((advice) => advice.do === "run-step")
    .map((advice) => `Next: guildhall ${stepCommand(advice, feature)}`)
    .join("\n");
}

/** The command that makes a call. */
export function callLine(tool: string, args: JsonObject): string {
  return ["guildhall call", tool, ...writeArguments(args)].join(" ");
}

/** `key=value` if it reads back unchanged, else one JSON object. */
function writeArguments(args: JsonObject): readonly string[] {
  const entries = Object.entries(args);
  const isPlain = entries.every(
    ([key, value]) =>
      /^[\w.-]+$/.test(key) &&
      (typeof value === "string" ? parseJson(value) === undefined : !isObject(value)),
  );
  if (!isPlain) return [quoteWord(JSON.stringify(args))];
  return entries.map(([key, value]) =>
    quoteWord(`${key}=${typeof value === "string" ? value : JSON.stringify(value)}`),
  );
}

/** Quotes one word for a shell. */
export function quoteWord(text: string): string {
  return /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
