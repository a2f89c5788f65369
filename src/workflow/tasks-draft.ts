import type { Design, DesignedAction, DesignedEntity } from "./design.ts";
import { oneLine } from "./markdown.ts";
import { interfaceName, serviceName } from "./plan-draft.ts";
import type { Story } from "./spec.ts";

/** Tasks by rule: from stories, entities, actions and rules; every task names the file it is done in. */
export interface TasksInput {
  readonly design: Design;
  /** The feature's folder, from the project's on. */
  readonly folder: string;
  /** Documents the tasks are made from. */
  readonly documents: readonly string[];
  /** Points of research.md that nobody has decided yet. */
  readonly openPoints: readonly { readonly id: string; readonly text: string }[];
  /** Whether somebody asked for tests, and who. */
  readonly tests: string | undefined;
}

/** One task before it has a number. */
interface Work {
  readonly text: string;
  readonly isParallel?: boolean;
}

interface PhaseDraft {
  readonly title: string;
  readonly head: string;
  readonly works: readonly Work[];
  readonly story?: number;
  readonly checkpoint?: string;
  /** What to say where there is nothing to do. */
  readonly nothing?: string;
}

export function draftTasks(input: TasksInput): string {
  const { design } = input;
  const stories = [...design.spec.stories].sort(
    (a, b) => a.priority.localeCompare(b.priority) || a.number - b.number,
  );
  const shared = design.entities.filter(({ stories: used }) => used.length > 1);
  const phases: readonly PhaseDraft[] = [
    {
      title: "Setup",
      head: "**Purpose**: what must be there before anything of the feature.",
      works: setUp(input),
      nothing: "Nothing: the repository has all that is needed.",
    },
    {
      title: "Foundational",
      head: "**Purpose**: what several stories stand on.\n\n**⚠️ CRITICAL**: no story begins before this phase is complete.",
      works: layFoundation(input, shared),
      checkpoint: "Stories may begin.",
      nothing: "Nothing: no two stories share an entity or a rule.",
    },
    ...stories.map((story, at) => planStory(story, at === 0, input, shared)),
    {
      title: "Polish & Cross-Cutting Concerns",
      head: "**Purpose**: what concerns all stories.",
      works: polish(input),
    },
  ];
  let next = 1;
  const numbered = phases.map((phase, at) => ({
    ...phase,
    number: at + 1,
    lines: phase.works.map((work) => {
      const id = `T${String(next++).padStart(3, "0")}`;
      return {
        id,
        isParallel: work.isParallel === true,
        line: `- [ ] ${id}${work.isParallel ? " [P]" : ""}${phase.story === undefined ? "" : ` [US${phase.story}]`} ${oneLine(work.text).replaceAll("\\|", "|")}`,
      };
    }),
  }));
  return `# Tasks: ${design.spec.title}

**Input**: Design documents from \`${input.folder}/\`
**Prerequisites**: ${input.documents.join(", ")}
**Tests**: ${input.tests === undefined ? "not asked for, so there are no test tasks" : `asked for ${input.tests}`}

**Format**: \`[ID] [P?] [Story] Description\`. [P]: may run beside others, as it touches other files and waits for none of them.

${numbered.map(writePhase).join("\n\n---\n\n")}

---

## Dependencies & Execution Order

### Phase Dependencies

${numbered.map(({ number, title, story }) => `- **Phase ${number}, ${title}**: ${number === 1 ? "waits for nothing" : number === 2 ? "waits for Phase 1; blocks all stories" : story === undefined ? (number === 4 ? "waits for Phase 3" : `waits for Phases 3 to ${number - 1}`) : "waits for Phase 2"}`).join("\n")}

### Within a phase

- Tasks run in the order of their numbers; those marked [P] beside each other.
- Tasks that name the same file never run at the same time.

## Parallel Example

${writeParallel(numbered)}

## Implementation Strategy

- **MVP**: Phases 1 to ${Math.min(3, numbered.length)}${stories[0] ? `, that is User Story ${stories[0].number} alone` : ""}; stop there and check it by its Independent Test.
- **After it**: one story at a time in the order above; each leaves the ones before it working.
`;
}

interface NumberedPhase extends PhaseDraft {
  readonly number: number;
  readonly lines: readonly {
    readonly id: string;
    readonly isParallel: boolean;
    readonly line: string;
  }[];
}

function writePhase({ number, title, head, lines, checkpoint, nothing }: NumberedPhase): string {
  const body =
    lines.length > 0 ? lines.map(({ line }) => line).join("\n") : (nothing ?? "Nothing.");
  return `## Phase ${number}: ${title}\n\n${head}\n\n${body}${checkpoint === undefined ? "" : `\n\n**Checkpoint**: ${checkpoint}`}`;
}

function writeParallel(phases: readonly NumberedPhase[]): string {
  const beside = phases
    .map(({ number, lines }) => ({
      number,
      ids: lines.filter(({ isParallel }) => isParallel).map(({ id }) => id),
    }))
    .filter(({ ids }) => ids.length > 1);
  return (
    beside
      .map(({ number, ids }) => `- Phase ${number}: ${ids.join(", ")} at the same time`)
      .join("\n") || "No two tasks can run beside each other."
  );
}

function setUp({ design, folder, openPoints }: TasksInput): readonly Work[] {
  return [
    ...openPoints.map(({ id, text }) => ({
      text: `Decide ${id} and write the decision into ${folder}/research.md: ${text}`,
    })),
    ...design.layout.newFolders.map((path) => ({
      text: `Create ${path}/ for the feature's files`,
    })),
  ];
}

function layFoundation({ design }: TasksInput, shared: readonly DesignedEntity[]): readonly Work[] {
  const ruleFile = design.actions[0]
    ? design.layout.fileFor("service", serviceName(design.actions[0], design))
    : design.layout.fileFor("service", "rules");
  return [
    ...shared.map((entity) => ({
      text: defineEntity(entity, design),
      isParallel: shared.length > 1 && design.layout.language !== undefined,
    })),
    ...design.actions
      .filter(({ story }) => story === undefined)
      .map((action) => ({
        text: `Implement “${action.name}” (${action.requirement.id}) in ${design.layout.fileFor("service", serviceName(action, design))}`,
      })),
    ...design.rules
      .filter(({ story }) => story === undefined)
      .map(({ id, text }) => ({ text: `Make ${id} hold in ${ruleFile}: ${text}` })),
  ];
}

function defineEntity({ name, attributes, partOf }: DesignedEntity, { layout }: Design): string {
  const fields = attributes.length > 0 ? ` with ${attributes.join(", ")}` : "";
  return `Define ${name}${fields}${partOf === undefined ? "" : ` as part of ${partOf}`} in ${layout.fileFor("model", name)} as data-model.md says`;
}

function planStory(
  story: Story,
  isFirst: boolean,
  input: TasksInput,
  shared: readonly DesignedEntity[],
): PhaseDraft {
  const { design, tests } = input;
  const { layout } = design;
  const actions = design.actions.filter((action) => action.story === story.number);
  const own = design.entities.filter(
    (entity) => entity.stories.includes(story.number) && !shared.includes(entity),
  );
  const rules = design.rules.filter((rule) => rule.story === story.number);
  const edges = design.spec.edgeCases.filter((edge) =>
    edge.includes(`User Story ${story.number})`),
  );
  const service = actions[0]
    ? layout.fileFor("service", serviceName(actions[0], design))
    : layout.fileFor("service", story.title.split(" ").slice(0, 3).join(" "));
  const testFile = layout.testFor(
    own[0]?.name ?? actions[0]?.entity ?? story.title.split(" ").slice(0, 3).join(" "),
  );
  return {
    title: `User Story ${story.number} - ${story.title} (Priority: ${story.priority})${isFirst ? " 🎯 MVP" : ""}`,
    head: `**Goal**: ${story.text.split("\n")[0] || story.title}\n\n**Independent Test**: ${story.independentTest || "the acceptance scenarios of the story, with nothing of the later ones in place"}`,
    story: story.number,
    works: [
      ...(tests === undefined
        ? []
        : story.scenarios.map((scenario, at) => ({
            text: `Write a failing test for scenario ${at + 1} in ${testFile ?? "tests/"}: ${shorten(scenario)}`,
          }))),
      ...own.map((entity) => ({
        text: defineEntity(entity, design),
        isParallel: own.length > 1 && layout.language !== undefined,
      })),
      ...actions.map((action) => ({
        text: `Implement “${action.name}” (${action.requirement.id}) in ${layout.fileFor("service", serviceName(action, design))}`,
      })),
      ...(actions.length === 0
        ? story.scenarios.map((scenario, at) => ({
            text: `Make scenario ${at + 1} work in ${service}: ${shorten(scenario)}`,
          }))
        : []),
      ...rules.map(({ id, text }) => ({ text: `Make ${id} hold in ${service}: ${text}` })),
      ...offer(actions, design),
      ...(edges.length > 0
        ? [
            {
              text: `Settle and handle in ${service}: ${edges.map((edge) => edge.replace(/ \(User Story \d+\)$/, "")).join(" ")}`,
            },
          ]
        : []),
    ],
    checkpoint: `User Story ${story.number} works by itself: its Independent Test passes.`,
  };
}

/** One task for each file that lets people reach the actions. */
function offer(actions: readonly DesignedAction[], design: Design): readonly Work[] {
  const { layout } = design;
  const byFile = new Map<string, DesignedAction[]>();
  for (const action of actions) {
    const file = layout.fileFor("interface", interfaceName(action, design));
    byFile.set(file, [...(byFile.get(file) ?? []), action]);
  }
  return [...byFile].map(([file, offered]) => ({
    text: `Let people reach ${offered.map(({ id, name }) => `${id} (${name})`).join(", ")} through ${file} as contracts/actions.md says`,
  }));
}

function shorten(scenario: string): string {
  const plain = scenario.replaceAll("**", "");
  return plain.length <= 160 ? plain : `${plain.slice(0, 160).replace(/\s+\S*$/, "")} …`;
}

function polish({ design: { survey }, folder }: TasksInput): readonly Work[] {
  const commands = (["lint", "test"] as const).flatMap((kind) => survey.commands[kind] ?? []);
  return [
    ...(survey.hasReadme ? [{ text: "Describe the feature in README.md" }] : []),
    ...commands.map(({ text, from }) => ({
      text: `Run \`${text}\` (from ${from}) and mend what fails`,
    })),
    { text: `Go through ${folder}/quickstart.md from a fresh checkout and mend what fails` },
  ];
}
