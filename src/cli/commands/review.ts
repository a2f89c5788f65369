import { realpath } from "node:fs/promises";
import { hashOf } from "../../base/hash.ts";
import type { JsonObject } from "../../base/json.ts";
import { visible } from "../../base/text.ts";
import type { ServerConfig } from "../../config/schema.ts";
import type { Discovery } from "../../hall/discover.ts";
import { noteDecision } from "../../hall/note.ts";
import type { Settings } from "../../hall/settings.ts";
import type { Tool } from "../../tool.ts";
import { type Entries, type Ledger, openLedger, type Review } from "../../trust/ledger.ts";
import { markTool } from "../../trust/marks.ts";
import { compareTool, goneTools, reviewServer, type ToolChange } from "../../trust/review.ts";
import { describeSource, sourceOf } from "../../upstream/source.ts";
import { describeFields } from "../definition.ts";
import { paint, table } from "../print.ts";
import { type AskLine, askYes } from "../terminal.ts";

/** What a person says about the servers of a project: that they may be started, and which of their tools ask first. */
export interface Reviewing {
  readonly settings: Settings;
  readonly ledger: Ledger;
  readonly entries: Entries;
  /** How the answers come: from a person, all yes, or not at all. */
  readonly answers:
    | { readonly kind: "ask"; readonly ask: AskLine }
    | { readonly kind: "yes" }
    | { readonly kind: "none" };
}

export async function openReviewing(
  settings: Settings,
  answers: Reviewing["answers"],
): Promise<Reviewing> {
  const ledger = await openProjectLedger(settings);
  return { settings, ledger, entries: await ledger.read(), answers };
}

/** The ledger of the folder this command runs in. */
export async function openProjectLedger({ log }: Pick<Settings, "log">): Promise<Ledger> {
  return openLedger(await realpath(process.cwd()), { warn: (message) => log.warn(message) });
}

/** A tool as a review shows it. */
interface ReviewedTool {
  readonly tool: Tool;
  readonly change: ToolChange;
  isDestructive: boolean;
}

export interface ServerReview {
  readonly name: string;
  readonly reached: string;
  readonly source: string;
  readonly previous: Review | undefined;
  readonly tools: readonly ReviewedTool[];
  readonly gone: readonly string[];
  /** Why it did not answer, where it did not. */
  readonly failure: string | undefined;
  /** Nothing has been said about what it is now. */
  readonly isOpen: boolean;
  readonly isApproved: boolean;
}

/** Before anything is started that nobody has allowed yet, a person sees what would run. Without one, nothing new is started. Gives the servers that may be. */
export async function confirmStarts(
  { settings, entries, answers }: Reviewing,
  names: readonly string[],
): Promise<readonly string[]> {
  if (answers.kind === "yes") return names;
  const allowed = await names.reduce<Promise<string[]>>(async (before, name) => {
    const list = await before;
    // The look at it says why; nothing is started.
    if (Object.hasOwn(settings.loaded.unusable, name)) return [...list, name];
    const config = settings.config.mcpServers[name];
    if (!config || config.disabled) return list;
    const previous = reviewOf(entries, name);
    if (previous?.source === sourceOf(config)) return [...list, name];
    if (answers.kind === "none") return list;
    const was = previous ? `\n  it was   ${visible(previous.reached)}` : "";
    const text = `${paint("bold", name)} ${previous ? "is reached in another way than the one approved" : "was never started on this machine"}\n  it ${previous ? "would be" : "is"} ${reachedBy(config, settings)}${was}\n`;
    return (await askYes(`${text}Start it to see what it offers?`, answers.ask))
      ? [...list, name]
      : list;
  }, Promise.resolve([]));
  return allowed;
}

/** Shows what each server offers and what would ask first, takes the answers, and writes them down. */
export async function reviewLooks(
  reviewing: Reviewing,
  looks: readonly Discovery[],
): Promise<readonly ServerReview[]> {
  const { settings, entries, answers, ledger } = reviewing;
  const reviews: ServerReview[] = [];
  // An entry that cannot be used is nothing a person could say yes to.
  const usable = looks.filter(({ name }) => !Object.hasOwn(settings.loaded.unusable, name));
  for (const look of usable) reviews.push(await reviewOne(prepare(look, reviewing), answers));
  const approved = reviews.filter(({ isOpen, isApproved }) => isOpen && isApproved);
  const modules = await reviewModules(reviewing);
  if (approved.length > 0 || modules !== entries.modules) {
    await ledger.change((current) => ({
      ...current,
      modules,
      servers: {
        ...current.servers,
        ...Object.fromEntries(approved.map((review) => [review.name, writeDown(review)])),
      },
    }));
    await noteDecision(
      settings,
      "reviewed",
      approved.map(({ name }) => name),
      "by command",
    );
  }
  return reviews;
}

export function modulesWait({
  settings,
  entries,
}: Pick<Reviewing, "settings" | "entries">): boolean {
  const { toolkits } = settings.config;
  return toolkits.length > 0 && entries.modules !== hashOf(toolkits);
}

/** The hash of the module patterns that may be loaded from now on. */
async function reviewModules(reviewing: Reviewing): Promise<string | undefined> {
  const { settings, entries, answers } = reviewing;
  const { toolkits } = settings.config;
  if (!modulesWait(reviewing) || answers.kind === "none") return entries.modules;
  const text = `This project brings toolkits of its own, code that runs inside the hall:\n${toolkits.map((pattern) => `  ${visible(pattern)}`).join("\n")}\n`;
  const isAllowed = answers.kind === "yes" || (await askYes(`${text}Load them?`, answers.ask));
  return isAllowed ? hashOf(toolkits) : entries.modules;
}

function prepare(look: Discovery, { settings, entries }: Reviewing): ServerReview {
  const { name } = look;
  const config = settings.config.mcpServers[name];
  if (!config) throw new Error(`${name} was looked at and is not configured`);
  const source = sourceOf(config);
  const previous = reviewOf(entries, name);
  const isSameSource = previous?.source === source;
  const tools = ("found" in look ? look.found.offer.tools : []).map((tool): ReviewedTool => {
    const change = compareTool(tool, previous);
    return {
      tool,
      change,
      isDestructive: change.kind === "same" ? change.isDestructive : markTool(tool).destructive,
    };
  });
  const isOpen = !isSameSource || tools.some(({ change }) => change.kind !== "same");
  const gone = "found" in look ? goneTools(look.found.offer.tools, previous) : [];
  return {
    name,
    reached: reachedBy(config, settings),
    source,
    previous,
    tools,
    gone,
    failure: "found" in look ? undefined : look.reason,
    isOpen,
    isApproved: !isOpen,
  };
}

async function reviewOne(
  review: ServerReview,
  answers: Reviewing["answers"],
): Promise<ServerReview> {
  if (!review.isOpen || answers.kind === "none") return review;
  if (answers.kind === "yes") return { ...review, isApproved: true };
  let answer = "";
  let question = `${describeReview(review)}\n`;
  do {
    answer = await answers.ask(
      `${question}Approve ${review.name}? y: yes, n: not now, numbers: change what asks first > `,
    );
    question = toggle(review, answer) ? `${toolTable(review)}\n` : "";
  } while (!/^(y(es)?|no?)$/i.test(answer));
  return { ...review, isApproved: /^y/i.test(answer) };
}

/** Turns the marks of the tools with these numbers around. False when the text is no list of numbers. */
function toggle({ tools }: ServerReview, answer: string): boolean {
  if (!/^\d+([\s,]+\d+)*$/.test(answer)) return false;
  for (const number of answer.split(/[\s,]+/).map(Number)) {
    const reviewed = tools[number - 1];
    if (reviewed) reviewed.isDestructive = !reviewed.isDestructive;
  }
  return true;
}

/** A server that did not answer keeps what was reviewed; that it may be started is written down. */
function writeDown({ source, reached, tools, previous }: ServerReview): Review {
  const marks = new Map(tools.map(({ tool, isDestructive }) => [tool, isDestructive]));
  const review = reviewServer({
    source,
    reached,
    tools: [...marks.keys()],
    isDestructive: (tool) => marks.get(tool) ?? true,
  });
  return tools.length === 0 && previous?.source === source
    ? { ...review, tools: previous.tools }
    : review;
}

export function describeReview(review: ServerReview): string {
  const { name, reached, previous, tools, gone } = review;
  const changed = tools.flatMap(({ tool, change }) =>
    change.kind === "changed"
      ? [
          `${paint("yellow", `${visible(tool.name)} has changed:`)}\n${describeFields(change.fields)}`,
        ]
      : [],
  );
  return [
    `\n${paint("bold", name)}  ${reached}${previous && previous.source !== review.source ? `\n  it was ${visible(previous.reached)}` : ""}`,
    toolTable(review),
    ...(gone.length > 0 ? [`no longer there: ${gone.map(visible).join(", ")}`] : []),
    ...changed,
  ].join("\n");
}

function toolTable({ tools, failure }: ServerReview): string {
  if (failure !== undefined)
    return `  it did not answer: ${visible(failure)}; a yes lets it be started again`;
  if (tools.length === 0) return "  it offers no tools";
  const rows = tools.map(({ tool, change, isDestructive }, index) => [
    `${index + 1}`,
    tool.name,
    change.kind === "same" ? "" : change.kind,
    isDestructive ? "yes" : "no",
    describeMarks(tool),
    tool.description ?? "",
  ]);
  return table(["#", "tool", "", "asks first", "because", "what it says of itself"], rows);
}

/** What its name and its claims say, and where they contradict each other. */
function describeMarks(tool: Tool): string {
  const { why } = markTool(tool);
  const isDoubtful =
    tool.annotations?.readOnlyHint === true &&
    why.destructive === undefined &&
    markTool({ ...tool, annotations: {} }).destructive;
  const parts = [
    why.destructive,
    isDoubtful ? "it says that it only reads, its name does not" : undefined,
    why.bringsIn === undefined ? undefined : "brings in what others wrote",
    why.sendsOut === undefined ? undefined : "sends out",
  ];
  return parts.filter((part) => part !== undefined).join("; ");
}

export function summariseReview({
  name,
  reached,
  isOpen,
  isApproved,
  tools,
  gone,
}: ServerReview): JsonObject {
  return {
    name,
    reached,
    approved: isApproved,
    changed: isOpen,
    tools: tools.map(({ tool, change, isDestructive }) => {
      const { bringsIn, sendsOut, why } = markTool(tool);
      return {
        name: tool.name,
        state: change.kind,
        destructive: isDestructive,
        bringsIn,
        sendsOut,
        why,
        ...(change.kind === "changed" ? { fields: change.fields } : {}),
      };
    }),
    gone,
  };
}

function reachedBy(config: ServerConfig, { secrets }: Settings): string {
  return visible(secrets.scrub(describeSource(config)));
}

function reviewOf({ servers }: Entries, name: string): Review | undefined {
  return Object.hasOwn(servers, name) ? servers[name] : undefined;
}
