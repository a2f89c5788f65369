import { basename, join } from "node:path";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { CallContext } from "../tool.ts";
import { type FeaturePlace, readInside, type WrittenFile, writeInside } from "./artefacts.ts";
import { writeRequirementsChecklist } from "./checklist.ts";
import {
  appendTo,
  appendToEnd,
  findSection,
  type MarkdownSection,
  oneLine,
  sectionsOf,
} from "./markdown.ts";
import {
  answerOpenQuestion,
  findOpenQuestions,
  findOpenTopics,
  markedTopics,
  type OpenTopic,
  optionsIn,
  parseSpec,
  resultOptions,
  type TopicSection,
} from "./spec.ts";
import { noEdgeCase, resultQuestion } from "./spec-draft.ts";
import {
  askForm,
  canAsk,
  dateOf,
  needDocument,
  type StepFunction,
  type StepInput,
} from "./step.ts";

interface Question {
  readonly question: string;
  /** The first one is recommended. Empty if any answer will do. */
  readonly options: readonly string[];
  /** The answer replaces a mark in the text. */
  readonly isMark?: boolean;
  readonly topic?: OpenTopic;
}

interface Answer {
  readonly text: string;
  /** The recommended answer, taken without a choice. */
  readonly isAssumed: boolean;
}

/** "skip" leaves a question open, "stop" ends the round. */
type Reply = Answer | "skip" | "stop";

const questionsMax = 5;

/** Asks what the spec leaves open, one question at a time, and writes each answer into it at once. */
export const clarify: StepFunction = async (input) => {
  const { place, args, context, run } = input;
  const file = join(place.path, "spec.md");
  let text = await needDocument(input, "spec.md", "specify");
  run.report(10, "Looking for open questions");

  const given = stringsOf(args.questions).filter((question) => question.trim() !== "");
  const questions =
    given.length > 0
      ? given.map((question): Question => ({ question: oneLine(question), options: [] }))
      : findQuestions(text);
  const answers = Array.isArray(args.answers) ? stringsOf(args.answers) : undefined;
  const notes = describeSurplus(answers ?? [], questions.length);
  if (questions.length === 0)
    return {
      text: `No open questions in ${file}`,
      files: [],
      notes,
      next: "plan",
      details: { questions: [] },
    };

  const ask = chooseAsker(context, answers, questions.length);
  if (!ask)
    return {
      text: listQuestions(questions),
      files: [],
      isPaused: true,
      ...askAgain,
      details: { questions: questions.map(describeQuestion) },
    };

  let answered = 0;
  for (const [at, question] of questions.entries()) {
    run.report(15 + (70 * at) / questions.length, `Question ${at + 1} of ${questions.length}`);
    const reply = await ask(question, at);
    if (reply === "stop") break;
    if (reply === "skip") continue;

    // The file may have been edited while the question was open.
    text = (await readInside(place, file)) ?? text;
    text = applyAnswer(text, question, reply, dateOf(input.settings.now()));
    await writeInside(place, file, text);
    run.note(`Q: ${question.question} → A: ${reply.text}${reply.isAssumed ? " (assumed)" : ""}`);
    answered++;
  }

  run.report(90, "Checking the requirements");
  const files: WrittenFile[] =
    answered > 0
      ? [{ path: "spec.md", change: "updated" }, ...(await updateChecklist(input, text))]
      : [];
  const left = given.length > 0 ? questions.slice(answered) : findQuestions(text);
  const isOpen = findOpenQuestions(text).length > 0;
  return {
    text: [
      `${answered} of ${questions.length} questions answered in ${file}`,
      ...(left.length > 0 ? [listQuestions(left)] : []),
    ].join("\n\n"),
    files,
    notes,
    isPaused: isOpen,
    ...(isOpen ? askAgain : { next: "plan" }),
    details: { answered, questions: left.map(describeQuestion) },
  };
};

/** The caller asks its user and calls again. */
const askAgain = {
  next: "clarify",
  nextArguments: { answers: ["…"] },
  forModel:
    'Ask the user these questions. Pass the answers in this order: a letter, a few words, or "yes" for the recommended one.',
} as const;

function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Answers beyond the last question are reported, unless they only accept recommendations. */
function describeSurplus(answers: readonly string[], questionCount: number): readonly string[] {
  const surplus = answers
    .slice(questionCount)
    .filter((answer) => !/^(?:|yes)$/i.test(answer.trim())).length;
  return surplus > 0 ? [`${surplus} of ${answers.length} answers had no question`] : [];
}

/** Marks first, then topics the spec does not cover. The same spec gives the same questions. */
function findQuestions(text: string): readonly Question[] {
  const spec = parseSpec(text);
  const topics = findOpenTopics(parseSpec(text.replace(/\[NEEDS CLARIFICATION[^\]]*\]/g, "")));
  const result = resultQuestion(spec.stories[0]?.title ?? "");
  const optionsOf = (mark: string): readonly string[] => {
    if (mark === result) return resultOptions;
    const topic = [...markedTopics, ...topics].find(({ question }) => question === mark);
    return topic?.options ?? optionsIn(mark) ?? ["Leave it out of this feature"];
  };
  const marked = spec.openQuestions.map(
    (mark): Question => ({ question: mark, isMark: true, options: optionsOf(mark) }),
  );
  const others = topics
    .filter(
      ({ question }) => !spec.openQuestions.includes(question) && !text.includes(`Q: ${question}`),
    )
    .map((topic): Question => ({ question: topic.question, options: topic.options, topic }));
  return [...marked, ...others].slice(0, questionsMax);
}

type Asker = (question: Question, at: number) => Promise<Reply>;

/** Answers come with the call or from the user; undefined if neither is possible. */
function chooseAsker(
  context: CallContext,
  answers: readonly string[] | undefined,
  total: number,
): Asker | undefined {
  if (answers)
    return async (question, at) => {
      const answer = answers[at];
      return answer === undefined ? "stop" : readAnswer(answer, question);
    };
  return canAsk(context) ? (question, at) => askUser(context, question, at, total) : undefined;
}

async function askUser(
  context: CallContext,
  question: Question,
  at: number,
  total: number,
): Promise<Reply> {
  const content = await askForm(context, `clarify-${at + 1}`, {
    message: `Question ${at + 1} of ${total}: ${question.question}`,
    properties: formFields(question.options),
    required: "answer",
  });
  if (!content) return "stop";

  const { answer, other } = content;
  // An answer in the user's own words is taken literally: "1" is not a choice there.
  if (typeof other === "string" && other.trim() !== "")
    return { text: cleanAnswer(other), isAssumed: false };
  const reply = readAnswer(String(answer ?? ""), question);
  return typeof reply === "string" ? reply : { ...reply, isAssumed: false };
}

function formFields(options: readonly string[]): JsonObject {
  const [recommended] = options;
  if (recommended === undefined)
    return { answer: { type: "string", title: "Answer", maxLength: 500 } };
  return {
    answer: {
      type: "string",
      title: "Answer",
      enum: options,
      enumNames: options.map((option, at) => (at === 0 ? `${option} (recommended)` : option)),
      default: recommended,
    },
    other: { type: "string", title: "Or another answer", default: "", maxLength: 500 },
  };
}

/** A letter or a number chooses an option; "yes" or nothing takes the recommended one; other text is the answer. */
function readAnswer(given: string, { options }: Question): Reply {
  const text = cleanAnswer(given);
  const [recommended] = options;
  if (recommended !== undefined && /^(?:|yes|recommended|ok)$/i.test(text))
    return { text: recommended, isAssumed: true };
  if (text === "") return "skip";
  return { text: chooseOption(text, options) ?? text, isAssumed: false };
}

function chooseOption(text: string, options: readonly string[]): string | undefined {
  if (/^[A-E]$/i.test(text)) return options[text.toUpperCase().charCodeAt(0) - 65];
  return /^[1-5]$/.test(text) ? options[Number(text) - 1] : undefined;
}

function cleanAnswer(text: string): string {
  return oneLine(text).replaceAll("\\|", "|").slice(0, 500);
}

/** Writes an answer into the list of clarifications and into the section it belongs to. */
function applyAnswer(
  text: string,
  { question, isMark, topic }: Question,
  { text: answer, isAssumed }: Answer,
  date: string,
): string {
  const isWindows = text.includes("\r\n");
  const plain = text.replaceAll("\r\n", "\n");
  const safe = answer.replaceAll("[NEEDS CLARIFICATION", "(NEEDS CLARIFICATION");
  const inside = /^[A-Z][a-z]/.test(safe) ? safe.charAt(0).toLowerCase() + safe.slice(1) : safe;

  let next = plain;
  if (isMark) next = endSentence(answerOpenQuestion(plain, question, inside), inside);
  else if (topic) next = addStatement(plain, topic.section, topic.statement(inside));
  else next = addStatement(plain, "assumptions", `${question} ${safe}`);
  if (isAssumed) next = addStatement(next, "assumptions", `Assumed: ${question} ${safe}`);

  const line = `- Q: ${question} → A: ${safe}${isAssumed ? " (assumed)" : ""}`;
  const noted = addClarification(next, line, date);
  return isWindows ? noted.replaceAll("\n", "\r\n") : noted;
}

/** A requirement that ended in its mark gets a full stop if the others have one. */
function endSentence(text: string, answer: string): string {
  const lines = text.split("\n");
  const isItem = (line: string): boolean => /^- \*\*(?:FR|SC)-/.test(line);
  if (!lines.some((line) => isItem(line) && line.endsWith("."))) return text;
  return lines
    .map((line) => {
      const needsStop = isItem(line) && line.endsWith(` ${answer}`) && !/[.!?。]$/.test(line);
      return needsStop ? `${line}.` : line;
    })
    .join("\n");
}

const sectionTitles: Readonly<Record<TopicSection, readonly RegExp[]>> = {
  requirements: [/^Functional Requirements/i, /^Requirements/i],
  criteria: [/^Measurable Outcomes/i, /^Success Criteria/i],
  edgeCases: [/^Edge Cases/i],
  assumptions: [/^Assumptions/i],
};

function addStatement(text: string, kind: TopicSection, statement: string): string {
  const section = sectionTitles[kind]
    .map((title) => findSection(text, title))
    .find((found) => found !== undefined);
  const line = `- ${nextId(kind, text)}${/[.!?。]$/.test(statement) ? statement : `${statement}.`}`;
  if (kind === "edgeCases" && text.includes(`- ${noEdgeCase}\n`))
    return text.replace(`- ${noEdgeCase}\n`, () => `${line}\n`);
  return section
    ? appendTo(text, section, [line])
    : `${text.trimEnd()}\n\n## Assumptions\n\n${line}\n`;
}

function nextId(kind: TopicSection, text: string): string {
  if (kind !== "requirements" && kind !== "criteria") return "";
  const prefix = kind === "requirements" ? "FR" : "SC";
  const used = [...text.matchAll(new RegExp(`\\b${prefix}-(\\d{3,})`, "g"))].map((found) =>
    Number(found[1]),
  );
  return `**${prefix}-${String(Math.max(0, ...used) + 1).padStart(3, "0")}**: `;
}

function addClarification(text: string, line: string, date: string): string {
  const clarifications = findSection(text, /^Clarifications$/i);
  if (!clarifications) {
    const first =
      findSection(text, /^User Scenarios/i) ?? sectionsOf(text).find(({ level }) => level === 2);
    return insertBefore(text, first, `## Clarifications\n\n### Session ${date}\n\n${line}\n\n`);
  }
  const session = findSection(text, new RegExp(`^Session ${date}$`), clarifications);
  return session
    ? appendTo(text, session, [line])
    : appendToEnd(text, clarifications, ["", `### Session ${date}`, "", line]);
}

function insertBefore(text: string, section: MarkdownSection | undefined, added: string): string {
  if (!section) return `${text.trimEnd()}\n\n${added}`;
  const lines = text.split("\n");
  lines.splice(section.from, 0, ...added.slice(0, -1).split("\n"));
  return lines.join("\n");
}

/** The checklist follows the spec; items that a person ticked stay ticked. */
async function updateChecklist(
  { place, settings }: StepInput,
  text: string,
): Promise<readonly WrittenFile[]> {
  const file = join(place.path, "checklists", "requirements.md");
  const before = await readInside(place, file);
  if (before !== undefined && !/Specification Quality Checklist/.test(before)) return [];

  const after = writeRequirementsChecklist({
    title: parseSpec(text).title || basename(place.path),
    date: dateOf(settings.now()),
    specText: text,
    before,
  });
  if (after === before) return [];
  await writeInside(place, file, after);
  return [
    { path: "checklists/requirements.md", change: before === undefined ? "created" : "updated" },
  ];
}

function listQuestions(questions: readonly Question[]): string {
  const lines = questions.flatMap(({ question, options }, at) => [
    `${at + 1}. ${question}`,
    ...options.map((option, index) => {
      const letter = String.fromCharCode(65 + index);
      return `   ${letter}. ${option}${index === 0 ? " (recommended)" : ""}`;
    }),
  ]);
  return ["Open questions:", ...lines].join("\n");
}

function describeQuestion({ question, options }: Question): JsonObject {
  return { question, options, recommended: options[0] ?? null };
}

/** Refuses a step that must not begin while the spec has marks. */
export function refuseOpenQuestions(text: string, { path }: FeaturePlace): void {
  const open = findOpenQuestions(text);
  if (open.length === 0) return;
  throw new HallError(
    "EXECUTION",
    `spec.md has open questions: ${open.map((question) => `“${question}”`).join(", ")}`,
    {
      next: [{ do: "run-step", step: "clarify", arguments: { spec_directory: path } }],
      details: { questions: open },
    },
  );
}
