import type { JsonObject } from "../../base/json.ts";
import { plural, shortenLine } from "../../base/text.ts";
import type { HealthBook } from "../../registry/health.ts";
import type { Registry } from "../../registry/registry.ts";
import type { NameReader, Spell } from "../../registry/shown-names.ts";
import type { Outcome, Target } from "../../tool.ts";
import type { Policies } from "../../trust/policy/policies.ts";
import type { Trust } from "../../trust/trust.ts";
import type { Finding, Found } from "./finder.ts";
import { signatureOf, typescriptOf } from "./signature.ts";

export type Detail = "signature" | "full";
export type Signatures = "call" | "typescript";

/** Sources of facts about the tools that were found. */
export interface AnswerParts {
  readonly registry: Registry;
  readonly health: HealthBook;
  readonly trust?: Pick<Trust, "judge" | "heldBecause"> | undefined;
  /** Default: everything is shown to everybody. */
  readonly policies?: Policies | undefined;
  readonly spell: Spell;
}

/** True if policies show the tool to the caller of the search. */
export function isShownTo(
  { policies }: AnswerParts,
  { caller }: NameReader,
): (tool: Target) => boolean {
  return policies?.isOn ? (tool) => policies.shows(caller, { tool }) : () => true;
}

export interface FindAnswerOptions extends AnswerParts {
  readonly task: string;
  readonly reader: NameReader;
  readonly detail?: Detail | undefined;
  readonly signatures?: Signatures | undefined;
  /** Servers are still being discovered. */
  readonly isIncomplete?: boolean;
  readonly told: ToldNotes;
}

/** The search result as text for a model and as data; omissions are stated. */
export function answerFinding(finding: Finding, options: FindAnswerOptions): Outcome {
  const notes = [
    ...(finding.fits ? [] : options.told.filterNew(options.reader, noteMissing(options))),
    ...(options.isIncomplete ? ["some servers are still starting: search again in a moment"] : []),
  ];
  const [whole, ...shorter] = widths;
  let answer = writeAnswer(finding, notes, whole, options);
  for (const width of options.detail === "full" ? [] : shorter) {
    if (Buffer.byteLength(JSON.stringify(answer)) <= bytesPerTool * finding.found.length) break;
    answer = writeAnswer(finding, notes, width, options);
  }
  return answer;
}

/** A page of five tools takes at most 2.5 KB, text and data together. */
const bytesPerTool = 512;

/** The most characters of a tool's signature and description; the next ones if a page gets too long. */
interface Width {
  readonly signature: number;
  readonly description: number;
}

const widths = [
  { signature: 600, description: 200 },
  { signature: 600, description: 120 },
  { signature: 300, description: 100 },
  { signature: 150, description: 80 },
] as const satisfies readonly Width[];

function writeAnswer(
  finding: Finding,
  notes: readonly string[],
  width: Width,
  options: FindAnswerOptions,
): Outcome {
  const { found, fits, total } = finding;
  const tools = found.map((item) => describeFound(item, width, options));
  const text = [
    formatHead(finding),
    ...tools.map((tool, at) => formatTool(at + 1, tool)),
    ...notes.map((note) => `Note: ${note}.`),
  ];
  if (tools.length > 0) text.push('Run one with call_tool {"name": …, "arguments": {…}}.');
  return {
    content: [{ type: "text", text: text.join("\n\n") }],
    structuredContent: {
      fits,
      total,
      tools: options.detail === "full" ? tools : tools.map(withoutText),
      ...(notes.length > 0 ? { notes } : {}),
    },
  };
}

/** The text says how a tool is called and what it does; data repeats it only on request. */
function withoutText({ description: _, signature: __, ...facts }: DescribedTool): ToldTool {
  return facts;
}

type DescribedTool = ToldTool & Required<Pick<ToldTool, "description" | "signature">>;

/** One tool as an answer describes it. */
export interface ToldTool {
  readonly name: string;
  /** With `detail: "full"`, as are signature and schemas. */
  readonly description?: string;
  readonly signature?: string;
  readonly score: number;
  readonly matched: readonly string[];
  readonly alike?: readonly string[];
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  /** Why a person will be asked before it runs. */
  readonly asks?: string;
  /** Why it cannot be called right now. */
  readonly unavailable?: string;
}

function describeFound(
  { target, score, words, alike }: Found,
  width: Width,
  { detail = "signature", signatures, health, trust, spell, reader }: FindAnswerOptions,
): DescribedTool {
  const { tool } = target;
  const name = spell(target, reader);
  const asks = trust?.judge(target).ask;
  const unavailable = findOutage(target, health);
  const isFull = detail === "full";
  return {
    name,
    description: shortenLine(
      tool.description ?? tool.title ?? "",
      isFull ? 4_000 : width.description,
    ),
    signature:
      signatures === "typescript"
        ? typescriptOf(target, width.signature)
        : signatureOf(name, tool.inputSchema, width.signature),
    score,
    matched: words.slice(0, 5),
    ...(alike.length > 0 ? { alike: alike.slice(0, 10).map((other) => spell(other, reader)) } : {}),
    ...(isFull && { inputSchema: tool.inputSchema }),
    ...(isFull && tool.outputSchema && { outputSchema: tool.outputSchema }),
    ...(asks === undefined ? {} : { asks }),
    ...(unavailable === undefined ? {} : { unavailable }),
  };
}

/** Why a tool cannot be called right now. */
export function findOutage({ toolkit }: Target, health: HealthBook): string | undefined {
  const { health: found } = health.record(toolkit);
  const isDown = found.state === "unavailable" || found.state === "maintenance";
  const reason = isDown ? found.reason : toolkit.problem?.();
  return reason?.replace(folders, "");
}

/** The folders of a local path, up to the name of the file. */
const folders =
  /(?<![\p{L}\p{N}/:.])(?:[A-Za-z]:|~|\.{1,2})?[\\/](?:[^\s"'\\/:]+[\\/])*(?=[^\s"'\\/])/gu;

/** The notes that each conversation has had. A note is repeated once its text changes. */
export interface ToldNotes {
  filterNew(reader: NameReader, notes: readonly string[]): readonly string[];
}

export function createToldNotes(): ToldNotes {
  const last = new Map<string, string>();
  return {
    filterNew({ caller }, notes) {
      if (!caller || notes.length === 0) return notes;
      const text = notes.join("\n");
      if (last.get(caller.connection) === text) return [];
      last.delete(caller.connection);
      last.set(caller.connection, text);
      for (const oldest of last.keys()) if (last.size > conversationsMax) last.delete(oldest);
      return notes;
    },
  };
}

const conversationsMax = 500;

/** A search that finds nothing good says how many servers it could not look through, without their words. */
function noteMissing({ registry, trust }: AnswerParts): string[] {
  const tools = registry.tools();
  const present = new Set(tools.map(({ toolkit }) => toolkit));
  const down = registry
    .toolkits()
    .filter((toolkit) => !present.has(toolkit) && toolkit.problem?.() !== undefined);
  const unreviewed = new Set(
    tools
      .filter((target) => trust?.heldBecause(target)?.kind === "unreviewed")
      .map(({ toolkit }) => toolkit),
  );
  const parts = [
    ...(down.length > 0 ? [`${plural(down.length, "server")} unavailable`] : []),
    ...(unreviewed.size > 0 ? [`${plural(unreviewed.size, "server")} not reviewed`] : []),
  ];
  if (parts.length === 0) return [];
  return [`not searched: ${parts.join(", ")} (see \`guildhall status\`)`];
}

function formatHead({ fits, total, found: { length: count } }: Finding): string {
  if (total === 0)
    return "No tool can be used here yet. A person adds servers under mcpServers in guildhall.json, or reviews those there are; `guildhall status` names them.";
  if (count === 0)
    return `None of ${total} tools has anything to do with this. Say it in other words, one step at a time.`;
  if (!fits) return `Nothing here fits well. The nearest of ${total} tools:`;
  return `The best of ${total} tools:`;
}

function formatTool(
  place: number,
  { signature, description, alike, asks, unavailable, inputSchema }: DescribedTool,
): string {
  const lines = [
    `${place}. ${signature}`,
    description,
    alike ? `the same: ${alike.join(", ")}` : "",
    asks === undefined ? "" : `asks a person first: ${asks}`,
    unavailable === undefined ? "" : `not available right now: ${unavailable}`,
    inputSchema ? `input: ${JSON.stringify(inputSchema)}` : "",
  ];
  return lines.filter(Boolean).join("\n   ");
}
