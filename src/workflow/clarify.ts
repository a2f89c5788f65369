import { basename, join } from "node:path";
import type { JsonObject } from "../base/json.ts";
import { type CallContext, supportsForms } from "../tool.ts";
import { readInside, type WrittenFile, writeInside } from "./artefacts.ts";
import { writeRequirementsChecklist } from "./checklist.ts";
import { appendTo, bodyUnder, findSection, oneLine, sectionsOf } from "./markdown.ts";
import { answerOpenQuestion, findOpenQuestions, parseSpec } from "./spec.ts";
import { usualAnswers } from "./spec-draft.ts";
import {
  askForm,
  dateOf,
  needDocument,
  type StepFunction,
  type StepInput,
  stringsOf,
} from "./step.ts";

interface Question {
  readonly question: string;
  /** The first one is recommended. Empty if any answer will do. */
  readonly options: readonly string[];
  /** The answer replaces a mark in the text. */
  readonly isMark: boolean;
}

interface Answer {
  readonly text: string;
  /** The recommended answer, taken without a choice. */
  readonly isAssumed: boolean;
}

/** "skip" leaves a question open, "stop" ends the round. */
type Reply = Answer | "skip" | "stop";

const questionsMax = 5;

/** Asks the open questions of the spec, one at a time, and writes each answer into it at once. */
export const clarify: StepFunction = async (input) => {
  const { place, args, context, run } = input;
  const file = join(place.path, "spec.md");
  let text = await needDocument(input, "spec.md", "specify");
  run.report(10, "Looking for open questions");

  const given = stringsOf(args.questions).filter((question) => question.trim() !== "");
  const open = findOpenQuestions(text);
  // A question of the spec is answered in its place; any other one is added.
  const asGiven = (words: string): Question => {
    const question = oneLine(words);
    return { question, options: [], isMark: open.includes(question) };
  };
  const questions = given.length > 0 ? given.map(asGiven) : findQuestions(text);
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
  if (!answers && !supportsForms(context.capabilities))
    return {
      text: listQuestions(questions),
      files: [],
      isPaused: true,
      ...askAgain,
      details: { questions: questions.map(describeQuestion) },
    };

  let answered = 0;
  for (const [at, question] of questions.entries()) {
    const number = `Question ${at + 1} of ${questions.length}`;
    run.report(15 + (70 * at) / questions.length, number);
    const reply = answers
      ? readAnswer(answers[at], question)
      : await askUser(context, question, { key: `clarify-${at + 1}`, number });
    if (reply === "stop") break;
    if (reply === "skip") continue;

    // The file may have been edited while the question was open.
    text = (await readInside(place, file)) ?? text;
    text = applyAnswer(text, question, reply, dateOf(input.settings.now()));
    await writeInside(place, file, text);
    run.note(noteOf(question, reply));
    answered++;
  }

  run.report(90, "Checking the requirements");
  const files: readonly WrittenFile[] =
    answered > 0
      ? [{ path: "spec.md", change: "updated" }, ...(await updateChecklist(input, text))]
      : [];
  const left = given.length > 0 ? questions.slice(answered) : findQuestions(text);
  const isOpen = findOpenQuestions(text).length > 0;
  const head = `${answered} of ${questions.length} questions answered in ${file}`;
  return {
    text: left.length > 0 ? `${head}\n\n${listQuestions(left)}` : head,
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

/** Answers beyond the last question are reported, unless they only accept recommendations. */
function describeSurplus(answers: readonly string[], questionCount: number): readonly string[] {
  const surplus = answers
    .slice(questionCount)
    .filter((answer) => !/^(?:|yes)$/i.test(answer.trim())).length;
  return surplus > 0 ? [`${surplus} of ${answers.length} answers had no question`] : [];
}

function findQuestions(text: string): readonly Question[] {
  return findOpenQuestions(text)
    .slice(0, questionsMax)
    .map((question) => ({ question, options: optionsOf(question), isMark: true }));
}

const leaveOut = "Leave it out of this feature";

/** Answers that the question lists itself, as in "Which colour: red, blue or green?", or the usual ones. */
function optionsOf(question: string): readonly string[] {
  const usual = usualAnswers.get(question);
  if (usual) return usual;
  const listed = /[:–—-]\s*(.+?)\??$/.exec(question)?.[1] ?? question.replace(/\?$/, "");
  const parts = listed.split(/,\s*(?:or\s+)?|\s+or\s+/).map((part) => part.trim());
  const isList =
    parts.length >= 2 &&
    parts.length <= 5 &&
    parts.every((part) => part !== "" && part.split(" ").length <= 8);
  return isList ? parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1)) : [leaveOut];
}

async function askUser(
  context: CallContext,
  question: Question,
  { key, number }: { readonly key: string; readonly number: string },
): Promise<Reply> {
  const content = await askForm(context, key, {
    message: `${number}: ${question.question}`,
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
function readAnswer(given: string | undefined, { options }: Question): Reply {
  if (given === undefined) return "stop";
  const text = cleanAnswer(given);
  const [recommended] = options;
  if (recommended !== undefined && /^(?:|yes|recommended|ok)$/i.test(text))
    return { text: recommended, isAssumed: true };
  if (text === "") return "skip";

  const letter = /^[A-E]$/i.test(text) ? text.toUpperCase().charCodeAt(0) - 65 : -1;
  const chosen = options[/^[1-5]$/.test(text) ? Number(text) - 1 : letter];
  return { text: chosen ?? text, isAssumed: false };
}

function cleanAnswer(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replaceAll("[NEEDS CLARIFICATION", "(NEEDS CLARIFICATION")
    .slice(0, 500);
}

function noteOf({ question }: Question, { text, isAssumed }: Answer): string {
  return `Q: ${question} → A: ${text}${isAssumed ? " (assumed)" : ""}`;
}

/** Writes an answer into the list of clarifications and in the place of its mark. */
function applyAnswer(text: string, question: Question, answer: Answer, date: string): string {
  const isWindows = text.includes("\r\n");
  const statement = `${question.question} ${answer.text}`;
  const assumption = answer.isAssumed ? `Assumed: ${statement}` : statement;

  let next = text.replaceAll("\r\n", "\n");
  if (isAuthorsQuestion(next, question)) {
    next = answerOpenQuestion(next, question.question, endSentence(assumption));
    if (answer.text !== leaveOut) next = addRequirement(next, statement);
  } else {
    const inside = answer.text.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
    if (question.isMark) next = answerOpenQuestion(next, question.question, inside);
    if (answer.isAssumed || !question.isMark) next = addAssumption(next, assumption);
  }

  next = addClarification(next, `- ${noteOf(question, answer)}`, date);
  return isWindows ? next.replaceAll("\n", "\r\n") : next;
}

/**
 * Questions that the description asks are marked under Assumptions: their answers are requirements,
 * or out of scope.
 */
function isAuthorsQuestion(text: string, { question, isMark }: Question): boolean {
  return isMark && findOpenQuestions(bodyUnder(text, /^Assumptions/i)).includes(question);
}

function addRequirement(text: string, statement: string): string {
  const section = findSection(text, /^Functional Requirements/i);
  if (!section) return text;
  const used = [...text.matchAll(/\bFR-(\d{3,})\b/g)].map(([, number]) => Number(number));
  const id = `FR-${String(Math.max(0, ...used) + 1).padStart(3, "0")}`;
  return appendTo(text, section, [`- **${id}**: ${endSentence(statement)}`]);
}

function endSentence(text: string): string {
  return /[.!?。]$/.test(text) ? text : `${text}.`;
}

function addAssumption(text: string, statement: string): string {
  const line = `- ${endSentence(statement)}`;
  const section = findSection(text, /^Assumptions/i);
  return section
    ? appendTo(text, section, [line])
    : `${text.trimEnd()}\n\n## Assumptions\n\n${line}\n`;
}

function addClarification(text: string, line: string, date: string): string {
  const session = `### Session ${date}`;
  const known = findSection(text, /^Clarifications$/i);
  if (known) {
    const today = findSection(text, new RegExp(`^Session ${date}$`));
    return appendTo(text, today ?? known, today ? [line] : ["", session, "", line]);
  }

  const lines = text.split("\n");
  const first = sectionsOf(text).find(({ level }) => level === 2)?.from ?? lines.length;
  lines.splice(first, 0, "## Clarifications", "", session, "", line, "");
  return lines.join("\n");
}

/** The checklist follows the spec; items that a person ticked stay ticked. */
async function updateChecklist(
  { place, settings }: StepInput,
  text: string,
): Promise<readonly WrittenFile[]> {
  const path = "checklists/requirements.md";
  const before = await readInside(place, join(place.path, path));
  if (before !== undefined && !/Specification Quality Checklist/.test(before)) return [];

  const after = writeRequirementsChecklist({
    title: parseSpec(text).title || basename(place.path),
    date: dateOf(settings.now()),
    specText: text,
    before,
  });
  if (after === before) return [];
  await writeInside(place, join(place.path, path), after);
  return [{ path, change: before === undefined ? "created" : "updated" }];
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
