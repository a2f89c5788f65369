import { clip, lowerCase } from "./english.ts";
import type { Spec } from "./spec.ts";
import { pluralOf } from "./statement.ts";

/** Something a spec leaves open that would change what is built: a question with answers to choose from, the recommended one first. */
export interface Doubt {
  readonly area: Area;
  /** Scope before security before experience before the rest. */
  readonly weight: number;
  readonly question: string;
  /** Two to five; the first is recommended. */
  readonly options: readonly string[];
  /** The section the answer belongs to. */
  readonly section: "requirements" | "edgeCases" | "criteria" | "assumptions";
  /** What the answer says there. */
  statement(answer: string): string;
}

/** What a spec is looked through for. */
export const areas = [
  "Functional scope",
  "Data",
  "Interaction",
  "Quality",
  "Integration",
  "Failures",
  "Constraints",
  "Terms",
  "Completion",
  "Placeholders",
] as const;
export type Area = (typeof areas)[number];

/** The same spec gives the same doubts in the same order. */
export function findDoubts(spec: Spec): readonly Doubt[] {
  const text = textOf(spec);
  return rules
    .flatMap((rule) => rule(spec, text))
    .filter(({ question }) => !text.includes(question))
    .sort((a, b) => b.weight - a.weight);
}

function textOf({
  input,
  stories,
  requirements,
  entities,
  criteria,
  edgeCases,
  assumptions,
}: Spec): string {
  const items = [...requirements, ...criteria, ...entities].map((item) => item.text);
  return [
    input,
    ...stories.flatMap((story) => [story.title, story.text, ...story.scenarios]),
    ...items,
    ...edgeCases,
    ...assumptions,
  ].join("\n");
}

type Rule = (spec: Spec, text: string) => readonly Doubt[];

const rules: readonly Rule[] = [
  function undecided({ input, requirements }) {
    const found =
      /[^.;]*\b(?:maybe|tbd|to be decided|not sure|perhaps|possibly|either .+ or)\b[^.;]*/i
        .exec([input, ...requirements.map(({ text }) => text)].join(". "))?.[0]
        ?.trim();
    if (found === undefined) return [];
    const part = clip(found.replace(/^User description:\s*"?/, ""), 80);
    return [
      doubt({
        area: "Functional scope",
        weight: 100,
        question: `The description leaves “${part}” undecided: is it part of this feature?`,
        options: ["No, leave it out for now", "Yes, it is part of it"],
        statement: (answer) => `Whether “${part}” is part of this feature: ${answer}`,
      }),
    ];
  },
  function actor({ stories, assumptions }) {
    const isUnsaid = assumptions.some(
      (line) => line.includes("does not say who acts") && line.includes("person who uses it"),
    );
    if (!isUnsaid || stories.length === 0) return [];
    return [
      doubt({
        area: "Functional scope",
        weight: 90,
        question:
          "Who uses this: people who are signed in, everyone who can reach it, or administrators only?",
        options: ["People who are signed in", "Everyone who can reach it", "Administrators only"],
        statement: (answer) => `The feature MUST be available to: ${answer}`,
      }),
    ];
  },
  function sharing({ entities, requirements }, text) {
    const changers = actorsOf(
      requirements,
      /\b(?:create|add|edit|update|change|delete|remove|upload|approve)\b/,
    );
    const [actor] = changers;
    const [first] = entities;
    if (
      !first ||
      actor === undefined ||
      actorsOf(requirements, /./).length < 2 ||
      /\b(?:owners?|only (?:their|the|its)|permissions?)\b/i.test(text)
    )
      return [];
    const many = pluralOf(lowerCase(first.name));
    // People who use something for themselves have things of their own; people who do a job share them.
    const isPersonal =
      /\b(?:users|customers|members|people|visitors|guests|students|patients|players)$/.test(actor);
    const options = ["Only those they created", "All of them"];
    return [
      doubt({
        area: "Constraints",
        weight: 52,
        question: `Which ${many} may one of the ${actor} change: ${isPersonal ? "only those they created, or all of them" : "all of them, or only those they created"}?`,
        options: isPersonal ? options : options.reverse(),
        statement: (answer) => `The ${many} that one of the ${actor} may change MUST be: ${answer}`,
      }),
    ];
  },
  function access({ entities, requirements }, text) {
    const kept = entities.filter(isMade);
    const [first] = kept;
    // Where several kinds of people are named, who may do what is said already.
    if (
      !first ||
      actorsOf(requirements, /./).length > 1 ||
      /\b(?:owners?|only (?:their|the|its)|permissions?|roles?|private|public|everyone|anyone|access control|admins? only)\b/i.test(
        text,
      )
    )
      return [];
    const names = kept
      .slice(0, 2)
      .map(({ name }) => pluralOf(lowerCase(name)))
      .join(" and ");
    return [
      doubt({
        area: "Constraints",
        weight: 80,
        question: `Who may see and change ${names}: only whoever created them, everyone who is signed in, or everyone?`,
        options: ["Only whoever created them", "Everyone who is signed in", "Everyone"],
        statement: (answer) => `${upper(names)} MUST be seen and changed by ${answer}`,
      }),
    ];
  },
  function personal({ entities, input, requirements }, text) {
    const said = [input, ...requirements.map((item) => item.text)].join("\n");
    const found =
      /\b(?:e-?mail addresses?|phone numbers?|addresses|birthdays?|health|medical|passports?|salary|payment details|credit cards?|locations?)\b/i.exec(
        said,
      )?.[0];
    if (found === undefined || /\b(?:retention|kept for|deleted after|anonymi[sz]ed)\b/i.test(text))
      return [];
    return [
      doubt({
        area: "Data",
        weight: 70,
        question: `How long is ${found.toLowerCase()} data kept: until its owner deletes it, for a year, or for ever?`,
        options: ["Until its owner deletes it", "For a year", "For ever"],
        statement: (answer) =>
          `${upper(found)} data${entities.length > 0 ? ` of ${entities[0]?.name}` : ""} MUST be kept: ${answer}`,
      }),
    ];
  },
  function vague(_spec, text) {
    return [
      ...text.matchAll(
        /\b(fast|quick|quickly|instant|instantly|responsive|real-time|real time|scalable|large scale|lots of|huge|secure|securely|robust|reliable|easy|easily|intuitive|user-friendly|simple|modern|nice)\b/gi,
      ),
    ]
      .map((found) => found[1]?.toLowerCase() ?? "")
      .filter((word, at, all) => all.indexOf(word) === at)
      .slice(0, 3)
      .map((word) =>
        doubt({
          area: "Quality",
          weight: 60,
          question: `What does “${word}” mean here, so that it can be checked?`,
          options: meaningsOf(word),
          section: "criteria",
          statement: (answer) => `“${word}” MUST mean: ${answer}`,
        }),
      );
  },
  function uploads({ requirements }, text) {
    const uploaded = requirements
      .map(
        (item) =>
          /\bupload(?:ed)? (?:an? |the |their |one or more )?([\w -]{2,30}?)(?: (?:into|to|from|with|for|by|and)\b|[.,]|$)/i.exec(
            item.text,
          )?.[1],
      )
      .find((found) => found !== undefined);
    if (uploaded === undefined || /\b\d+\s?(?:kb|mb|gb)\b/i.test(text)) return [];
    return [
      doubt({
        area: "Constraints",
        weight: 55,
        question: `How large may ${uploaded} be at most: 10 MB each, 100 MB each, or any size?`,
        options: ["10 MB each", "100 MB each", "Any size"],
        statement: (answer) => `${upper(uploaded)} MUST be accepted up to: ${answer}`,
      }),
    ];
  },
  function removal({ entities }, text) {
    const removed = entities.find((entity) =>
      /\b(?:deleted|removed|cancelled|canceled)\b/.test(entity.text),
    );
    if (
      !removed ||
      /\b(?:restore|undo|for good|permanent|trash|recover|brought back for)\b/i.test(text)
    )
      return [];
    const one = lowerCase(removed.name);
    return [
      doubt({
        area: "Data",
        weight: 45,
        question: `Is a removed ${one} gone for good, or can it be brought back for 30 days?`,
        options: ["It can be brought back for 30 days", "It is gone for good"],
        statement: (answer) => `For a removed ${one} it MUST hold: ${answer}`,
      }),
    ];
  },
  function outside(_spec, text) {
    const names = [
      ...text.matchAll(
        /\b(Google|Slack|Stripe|PayPal|GitHub|GitLab|Jira|S3|AWS|Azure|Twilio|SendGrid|Salesforce|Shopify|Zoom|Teams|Dropbox|OAuth|LDAP|SMTP|Kafka|RabbitMQ)\b/g,
      ),
    ].map((found) => found[1] ?? "");
    return [...new Set(names)].slice(0, 2).map((name) =>
      doubt({
        area: "Integration",
        weight: 44,
        question: `What happens while ${name} cannot be reached: fail and say so, try again later, or go on without it?`,
        options: ["Fail and say so", "Try again later", "Go on without it"],
        section: "edgeCases",
        statement: (answer) => `While ${name} cannot be reached: ${answer}`,
      }),
    );
  },
  function volume({ entities, criteria }, text) {
    const first = entities.find(isMade);
    if (
      !first ||
      criteria.some((item) =>
        /\d{2,}/.test(item.text.replace(/(?:FR|SC)-\d+|User Story \d+/g, "")),
      ) ||
      /how many|up to \d|at most \d/i.test(text)
    )
      return [];
    const many = pluralOf(lowerCase(first.name));
    return [
      doubt({
        area: "Quality",
        weight: 40,
        question: `How many ${many} must it cope with: up to 1,000, up to 100,000, or millions?`,
        options: ["Up to 1,000", "Up to 100,000", "Millions"],
        section: "criteria",
        statement: (answer) => `Every story works the same with this many ${many}: ${answer}`,
      }),
    ];
  },
  function speed({ stories }, text) {
    if (
      stories.length === 0 ||
      /\b\d[\d.,]*\s?(?:ms|milliseconds?|s|secs?|seconds?|minutes?|min)\b/i.test(text)
    )
      return [];
    return [
      doubt({
        area: "Quality",
        weight: 35,
        question:
          "How long may one action take until its result is seen: 1 second, 5 seconds, or a minute?",
        options: ["1 second", "5 seconds", "A minute"],
        section: "criteria",
        statement: (answer) => `95 of 100 actions show their result within: ${answer}`,
      }),
    ];
  },
  function twoAtOnce({ edgeCases }) {
    const found = edgeCases.find((line) => /two people change the same/i.test(line));
    const one = found && /change the same (.+?) at the same time/i.exec(found)?.[1];
    if (!one) return [];
    return [
      doubt({
        area: "Failures",
        weight: 30,
        question: `Two people change the same ${one} at once: does the last change count, or is the second person told?`,
        options: ["The second person is told and nothing is lost", "The last change counts"],
        section: "edgeCases",
        statement: (answer) => `Two people change the same ${one} at once: ${answer}`,
      }),
    ];
  },
  function empty({ edgeCases }) {
    const found = edgeCases.find((line) => /there are no .+ yet/i.test(line));
    const many = found && /there are no (.+?) yet/i.exec(found)?.[1];
    if (!many) return [];
    return [
      doubt({
        area: "Interaction",
        weight: 20,
        question: `What is shown while there are no ${many}: how to make the first one, or an empty list?`,
        options: ["How to make the first one", "An empty list"],
        section: "edgeCases",
        statement: (answer) => `While there are no ${many}, what is shown: ${answer}`,
      }),
    ];
  },
];

/** There are as many of them as people make. */
function isMade({ text }: Spec["entities"][number]): boolean {
  return /\b(?:shared|uploaded|imported|attached|created|added|registered|submitted|posted|booked|reserved|written|recorded|tracked|stored|saved|collected)\b/.test(
    text,
  );
}

/** Who the requirements let do such things, as they call them: "librarians". */
function actorsOf(requirements: Spec["requirements"], doing: RegExp): readonly string[] {
  const found = requirements.map((item) =>
    /^(?:(?:When|Unless) .+?, )?([A-Za-z][\w -]{1,40}?) MUST be able to (.+)$/.exec(item.text),
  );
  return [
    ...new Set(
      found
        .filter((match) => match !== null && doing.test(match[2] ?? ""))
        .map((match) => match?.[1]?.toLowerCase() ?? ""),
    ),
  ];
}

function doubt({
  section = "requirements",
  ...rest
}: Omit<Doubt, "section"> & { readonly section?: Doubt["section"] }): Doubt {
  return { ...rest, section };
}

function meaningsOf(word: string): readonly string[] {
  if (/fast|quick|instant|responsive|real/.test(word))
    return ["Seen within 1 second", "Seen within 5 seconds", "Seen within a minute"];
  if (/scal|lots|huge|large/.test(word))
    return ["Up to 1,000 at once", "Up to 100,000 at once", "Millions"];
  if (/secur/.test(word))
    return ["Only signed-in people reach it", "Also encrypted where kept", "Also audited"];
  if (/robust|reliable/.test(word))
    return ["No data lost after a crash", "Available 99.9 % of the month", "Failures are retried"];
  return ["Nothing that is checked: drop the word", "First use without a manual"];
}

/** Answers a mark lists itself: "a, b or c". Undefined where it lists none. */
export function optionsIn(question: string): readonly string[] | undefined {
  const listed = /[:–—-]\s*(.+?)\??$/.exec(question)?.[1] ?? question.replace(/\?$/, "");
  const parts = listed.split(/,\s*(?:or\s+)?|\s+or\s+/).map((part) => part.trim());
  return parts.length >= 2 &&
    parts.length <= 5 &&
    parts.every((part) => part !== "" && part.split(" ").length <= 8)
    ? parts.map(upper)
    : undefined;
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
