import { basename, join } from "node:path";
import { HallError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { CallContext } from "../tool.ts";
import { readInside, replaceFile, type Written } from "./artefacts.ts";
import { type Doubt, findDoubts, optionsIn } from "./doubts.ts";
import { appendTo, findSection, oneLine, type Section, sectionsOf } from "./markdown.ts";
import { checkInside } from "./place.ts";
import { writeRequirementsChecklist } from "./requirements-checklist.ts";
import { answerOpenQuestion, findOpenQuestions, parseSpec } from "./spec.ts";
import { dateOf, needDocument, type Step, type StepInput } from "./step.ts";

/** A question to whoever knows. */
interface Question {
  readonly question: string;
  /** The first is recommended; none where any answer will do. */
  readonly options: readonly string[];
  /** Set where the question is a mark in the text, which the answer replaces. */
  readonly mark?: string;
  readonly doubt?: Doubt;
}

const questionsMax = 5;

/** Asks what the spec leaves open, one question a round, and puts each answer into it at once. */
export const clarify: Step = async (input) => {
  const { place, args, context, run } = input;
  const specFile = join(place.path, "spec.md");
  let text = await needDocument(input, "spec.md", "specify");
  run.say(10, "Looking for what is open");
  const given = Array.isArray(args.questions)
    ? args.questions.map(String).filter((question) => question.trim() !== "")
    : [];
  const questions =
    given.length > 0
      ? given.map((question): Question => ({ question: oneLine(question), options: [] }))
      : findQuestions(text);
  const answers = Array.isArray(args.answers) ? args.answers.map(String) : undefined;
  const surplus = (answers ?? [])
    .slice(questions.length)
    .filter((said) => !/^(?:|yes)$/i.test(said.trim())).length;
  const notes =
    surplus > 0
      ? [
          `there ${questions.length === 1 ? "was only 1 question" : `were only ${questions.length} questions`}: the last ${surplus === 1 ? "answer was" : `${surplus} answers were`} not used`,
        ]
      : [];
  if (questions.length === 0)
    return {
      text: `Nothing to ask: ${specFile} leaves nothing open that a rule can find.`,
      files: [],
      notes,
      next: "plan",
      details: { questions: [] },
    };
  const ask = answers
    ? (question: Question, at: number) =>
        Promise.resolve(
          answers[at] === undefined ? undefined : { answer: readAnswer(answers[at], question) },
        )
    : canAsk(context)
      ? (question: Question, at: number) => askPerson(context, question, at, questions.length)
      : undefined;
  if (!ask)
    return {
      text: tellQuestions(questions),
      files: [],
      isPaused: true,
      next: "clarify",
      details: { questions: questions.map(describe) },
    };

  let answered = 0;
  for (const [at, question] of questions.entries()) {
    run.say(15 + (70 * at) / questions.length, `Question ${at + 1} of ${questions.length}`);
    const said = await ask(question, at);
    if (said === undefined) break;
    const { answer } = said;
    if (answer === undefined) continue;
    // Somebody may have edited the file while the question was open.
    text = (await readInside(place, specFile)) ?? text;
    text = fold(text, question, answer, dateOf(input.settings.now()));
    await checkInside(place, specFile);
    await replaceFile(specFile, text);
    run.note(`Q: ${question.question} → A: ${answer}`);
    answered++;
  }
  run.say(90, "Checking the requirements again");
  const files: Written[] =
    answered > 0 ? [{ path: "spec.md", change: "updated" }, ...(await recheck(input, text))] : [];
  const left = given.length > 0 ? questions.slice(answered) : findQuestions(text);
  const open = findOpenQuestions(text).length;
  return {
    text: `${answered} of ${questions.length} questions answered in ${specFile}${left.length > 0 ? `\n\n${tellQuestions(left)}` : ""}`,
    files,
    notes,
    next: open > 0 ? "clarify" : "plan",
    isPaused: open > 0,
    details: { answered, questions: left.map(describe) },
  };
};

/** Marks first, then what a look through the areas finds. The same spec gives the same questions in the same order. */
function findQuestions(text: string): readonly Question[] {
  const spec = parseSpec(text);
  const doubts = findDoubts({
    ...spec,
    requirements: spec.requirements.map((item) => ({
      ...item,
      text: item.text.replace(/\[NEEDS CLARIFICATION[^\]]*\]/g, ""),
    })),
  });
  const marked = spec.openQuestions.map(
    (mark): Question => ({
      question: mark,
      mark,
      options: doubts.find(({ question }) => question === mark)?.options ??
        optionsIn(mark) ?? ["Leave it out of this feature"],
    }),
  );
  const others = doubts
    .filter(
      ({ question }) => !spec.openQuestions.includes(question) && !text.includes(`Q: ${question}`),
    )
    .map((doubt): Question => ({ question: doubt.question, options: doubt.options, doubt }));
  return [...marked, ...others].slice(0, questionsMax);
}

function canAsk({ capabilities }: CallContext): boolean {
  const elicitation = capabilities?.elicitation;
  return isObject(elicitation) && (isObject(elicitation.form) || !isObject(elicitation.url));
}

/** What somebody said to a question; without an answer it stays open. */
interface Said {
  readonly answer: string | undefined;
}

/** Undefined when the person wants no more questions. */
async function askPerson(
  context: CallContext,
  asked: Question,
  at: number,
  total: number,
): Promise<Said | undefined> {
  const { question, options } = asked;
  const [recommended] = options;
  const properties =
    recommended === undefined
      ? { answer: { type: "string", title: "Answer", maxLength: 500 } }
      : {
          answer: {
            type: "string",
            title: "Answer",
            enum: options,
            enumNames: options.map((option, index) =>
              index === 0 ? `${option} (recommended)` : option,
            ),
            default: recommended,
          },
          other: {
            type: "string",
            title: "Another answer instead, in a few words",
            default: "",
            maxLength: 500,
          },
        };
  const params = {
    mode: "form",
    message: `Question ${at + 1} of ${total}: ${question}${recommended === undefined ? "" : `\n\nRecommended: ${recommended}`}`,
    requestedSchema: { type: "object", properties, required: ["answer"] },
  };
  const key = `clarify-${at + 1}`;
  const { [key]: result } = await context.ask({ [key]: { method: "elicitation/create", params } });
  if (result?.action !== "accept" || !isObject(result.content)) return undefined;
  const { answer, other } = result.content;
  // What is written in one's own words is taken by the word: "1" is no choice there.
  return {
    answer:
      typeof other === "string" && other.trim() !== ""
        ? plainAnswer(other)
        : readAnswer(String(answer ?? ""), asked),
  };
}

/** A letter, a number, "yes" or nothing choose among the options; anything else is the answer itself. Undefined where there is none. */
function readAnswer(said: string, { options }: Question): string | undefined {
  const text = plainAnswer(said);
  const [recommended] = options;
  if (recommended !== undefined && /^(?:|yes|recommended|ok)$/i.test(text)) return recommended;
  const chosen = /^[A-E]$/i.test(text)
    ? options[text.toUpperCase().charCodeAt(0) - 65]
    : /^[1-5]$/.test(text)
      ? options[Number(text) - 1]
      : undefined;
  return chosen ?? (text === "" ? undefined : text);
}

function plainAnswer(said: string): string {
  return oneLine(said).replaceAll("\\|", "|").slice(0, 500);
}

/** Into the list of clarifications, and into the section it belongs to. */
function fold(
  text: string,
  { question, mark, doubt }: Question,
  answer: string,
  date: string,
): string {
  const isWindows = text.includes("\r\n");
  const plain = text.replaceAll("\r\n", "\n");
  const safe = answer.replaceAll("[NEEDS CLARIFICATION", "(NEEDS CLARIFICATION");
  // In the middle of a sentence it begins small.
  const inside = /^[A-Z][a-z]/.test(safe) ? safe.charAt(0).toLowerCase() + safe.slice(1) : safe;
  const folded =
    mark === undefined
      ? foldStatement(plain, doubt, question, doubt ? inside : safe)
      : endLine(answerOpenQuestion(plain, mark, inside), inside);
  const noted = noteAnswer(folded, `- Q: ${question} → A: ${safe}`, date);
  return isWindows ? noted.replaceAll("\n", "\r\n") : noted;
}

/** A requirement that ended in its mark ends like the others: with a full stop where they have one. */
function endLine(text: string, answer: string): string {
  const lines = text.split("\n");
  const isItem = (line: string): boolean => /^- \*\*(?:FR|SC)-/.test(line);
  if (!lines.some((line) => isItem(line) && line.endsWith("."))) return text;
  return lines
    .map((line) =>
      isItem(line) && line.endsWith(` ${answer}`) && !/[.!?]$/.test(line) ? `${line}.` : line,
    )
    .join("\n");
}

function foldStatement(
  text: string,
  doubt: Doubt | undefined,
  question: string,
  answer: string,
): string {
  const places: Readonly<Record<Doubt["section"], RegExp>> = {
    requirements: /^(?:Functional Requirements|Requirements)/i,
    criteria: /^(?:Measurable Outcomes|Success Criteria)/i,
    edgeCases: /^Edge Cases/i,
    assumptions: /^Assumptions/i,
  };
  const kind = doubt?.section ?? "assumptions";
  const section =
    (kind === "requirements"
      ? findSection(text, /^Functional Requirements/i)
      : kind === "criteria"
        ? findSection(text, /^Measurable Outcomes/i)
        : undefined) ?? findSection(text, places[kind]);
  const statement = doubt ? doubt.statement(answer) : `${question} ${answer}`;
  const line = `- ${idFor(kind, text)}${/[.!?]$/.test(statement) ? statement : `${statement}.`}`;
  return section
    ? appendTo(text, section, [line])
    : `${text.trimEnd()}\n\n## Assumptions\n\n${line}\n`;
}

function idFor(kind: Doubt["section"], text: string): string {
  if (kind !== "requirements" && kind !== "criteria") return "";
  const prefix = kind === "requirements" ? "FR" : "SC";
  const used = [...text.matchAll(new RegExp(`\\b${prefix}-(\\d{3,})`, "g"))].map((found) =>
    Number(found[1]),
  );
  return `**${prefix}-${String(Math.max(0, ...used) + 1).padStart(3, "0")}**: `;
}

function noteAnswer(text: string, line: string, date: string): string {
  const clarifications = findSection(text, /^Clarifications$/i);
  if (!clarifications)
    return insertBefore(
      text,
      findSection(text, /^User Scenarios/i) ?? sectionsOf(text).find(({ level }) => level === 2),
      `## Clarifications\n\n### Session ${date}\n\n${line}\n\n`,
    );
  const session = findSection(text, new RegExp(`^Session ${date}$`), clarifications);
  return session
    ? appendTo(text, session, [line])
    : appendToEnd(text, clarifications, ["", `### Session ${date}`, "", line]);
}

function insertBefore(text: string, section: Section | undefined, added: string): string {
  if (!section) return `${text.trimEnd()}\n\n${added}`;
  const lines = text.split("\n");
  return [
    ...lines.slice(0, section.from),
    ...added.slice(0, -1).split("\n"),
    ...lines.slice(section.from),
  ].join("\n");
}

function appendToEnd(text: string, section: Section, added: readonly string[]): string {
  const lines = text.split("\n");
  let at = section.to;
  while (at > section.from + 1 && (lines[at - 1] ?? "").trim() === "") at--;
  return [...lines.slice(0, at), ...added, ...lines.slice(at)].join("\n");
}

/** The checklist follows the spec; marks of people stay. */
async function recheck({ place, settings }: StepInput, text: string): Promise<readonly Written[]> {
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
  await checkInside(place, file);
  await replaceFile(file, after);
  return [
    { path: "checklists/requirements.md", change: before === undefined ? "created" : "updated" },
  ];
}

function tellQuestions(questions: readonly Question[]): string {
  const lines = questions.map(({ question, options }, at) => {
    const choices = options.map(
      (option, index) =>
        `   ${String.fromCharCode(65 + index)}. ${option}${index === 0 ? " (recommended)" : ""}`,
    );
    return [`${at + 1}. ${question}`, ...choices].join("\n");
  });
  return `Open questions; call speckit.clarify again with \`answers\` in this order (a letter, or a few words; "yes" takes the recommended one):\n\n${lines.join("\n")}`;
}

function describe({ question, options }: Question): {
  readonly question: string;
  readonly options: readonly string[];
  readonly recommended: string | null;
} {
  return { question, options, recommended: options[0] ?? null };
}

/** For steps that may not begin while something is open. */
export function refuseOpenQuestions(text: string): void {
  const open = findOpenQuestions(text);
  if (open.length === 0) return;
  throw new HallError(
    "EXECUTION",
    `spec.md has ${open.length} open ${open.length === 1 ? "question" : "questions"}: run speckit.clarify first. ${open.map((question) => `“${question}”`).join(" ")}`,
    {
      hint: "Call speckit.clarify with the same spec_directory.",
      details: { questions: open, step: "clarify" },
    },
  );
}
