/**
 * The form of spec-kit's documents, written from its rules without code of the product: each
 * function returns the faults of a text.
 */
export function faultsOfSpec(text: string): readonly string[] {
  const heads = [...text.matchAll(/^#{1,3} .+$/gm)].map(([head]) => head);
  const faults: string[] = [];
  const expect = (isSo: boolean, fault: string): void => void (isSo || faults.push(fault));
  expect(/^# Feature Specification: \S/.test(text), "title");
  for (const field of ["Feature Branch", "Created", "Status", "Input"])
    expect(new RegExp(`^\\*\\*${field}\\*\\*: \\S`, "m").test(text), field);
  expect(/^\*\*Status\*\*: Draft$/m.test(text), "Status is Draft");
  const mandatory = [
    "## User Scenarios & Testing *(mandatory)*",
    "### Edge Cases",
    "## Requirements *(mandatory)*",
    "### Key Entities",
    "## Success Criteria *(mandatory)*",
    "## Assumptions",
  ];
  let last = -1;
  for (const head of mandatory) {
    const at = heads.indexOf(head);
    expect(at > last, `${head} in its place`);
    last = at;
  }
  const stories = text.split(/^### (?=User Story)/m).slice(1);
  expect(stories.length > 0, "a story");
  stories.forEach((story, at) => {
    expect(
      new RegExp(`^User Story ${at + 1} - .+ \\(Priority: P\\d\\)\\n`).test(story),
      `head of story ${at + 1}`,
    );
    expect(/^\*\*Why this priority\*\*: \S/m.test(story), `why of story ${at + 1}`);
    expect(/^\*\*Independent Test\*\*: \S/m.test(story), `test of story ${at + 1}`);
    expect(
      /^1\. \*\*Given\*\* .+, \*\*When\*\* .+, \*\*Then\*\* .+$/m.test(story),
      `scenario of story ${at + 1}`,
    );
  });
  for (const prefix of ["FR", "SC"]) {
    const ids = [...text.matchAll(new RegExp(`^- \\*\\*${prefix}-(\\d{3})\\*\\*: \\S`, "gm"))].map(
      ([, id]) => Number(id),
    );
    expect(ids.length > 0 && ids.every((id, at) => id === at + 1), `${prefix} ids`);
  }
  expect((text.match(/\[NEEDS CLARIFICATION: [^\]]+\]/g) ?? []).length <= 3, "at most three marks");
  expect(!/\[[A-Z][A-Z _]{4,}\]|lorem|TODO|\bTBD\b/.test(text), "no placeholders");
  return faults;
}

export function faultsOfChecklist(text: string): readonly string[] {
  const groups = ["## Content Quality", "## Requirement Completeness", "## Feature Readiness"].map(
    (head) => text.split(head)[1]?.split("\n## ")[0] ?? "",
  );
  const counts = groups.map((group) => (group.match(/^- \[[ x]\] \S/gm) ?? []).length);
  return counts.reduce((sum, count) => sum + count, 0) === 16 && counts.every((count) => count > 0)
    ? []
    : [`16 items in three groups, found ${counts.join(", ")}`];
}

export function faultsOfPlan(text: string): readonly string[] {
  const fields = [
    "Language/Version",
    "Primary Dependencies",
    "Storage",
    "Testing",
    "Target Platform",
    "Project Type",
    "Performance Goals",
    "Constraints",
    "Scale/Scope",
  ];
  const heads = [
    "## Summary",
    "## Technical Context",
    "## Constitution Check",
    "## Project Structure",
    "## Complexity Tracking",
  ];
  const places = heads.map((head) => text.indexOf(`\n${head}\n`));
  return [
    ...(/^# Implementation Plan: \S/.test(text) ? [] : ["title"]),
    ...(places.every((place, at) => place > (places[at - 1] ?? 0)) ? [] : ["headings in order"]),
    ...fields.filter(
      (field) => !new RegExp(`^\\*\\*${field.replace("/", "\\/")}\\*\\*: \\S`, "m").test(text),
    ),
    ...((text.match(/^### (?:Before research|After design)$/gm) ?? []).length === 2
      ? []
      : ["the gate, twice"]),
    ...[...text.matchAll(/NEEDS CLARIFICATION: [^\]]+/g)]
      .filter(([mark]) => !/\(O\d+\)$/.test(mark))
      .map(([mark]) => `${mark} has no open point`),
  ];
}

export function faultsOfTasks(text: string): readonly string[] {
  const faults: string[] = [];
  const phases = [...text.matchAll(/^## Phase (\d+): (.+)$/gm)].map(([, number, title = ""]) => ({
    number: Number(number),
    title,
  }));
  if (!phases.every(({ number }, at) => number === at + 1)) faults.push("phases from 1 on");
  if (
    phases[0]?.title !== "Setup" ||
    phases[1]?.title !== "Foundational" ||
    !phases.at(-1)?.title.startsWith("Polish")
  )
    faults.push("Setup, Foundational, …, Polish");
  if (!/🎯 MVP$/.test(phases[2]?.title ?? "")) faults.push("the first story is the MVP");
  let next = 1;
  for (const part of text.split(/^## (?=Phase)/m).slice(1)) {
    const story = /^Phase \d+: User Story (\d+)/.exec(part)?.[1];
    if (
      story !== undefined &&
      !(
        /^\*\*Goal\*\*: \S/m.test(part) &&
        /^\*\*Independent Test\*\*: \S/m.test(part) &&
        /^\*\*Checkpoint\*\*: \S/m.test(part)
      )
    )
      faults.push(`parts of story ${story}`);
    const beside = new Set<string>();
    for (const line of part
      .split("\n## ")[0]
      ?.split("\n")
      .filter((candidate) => candidate.startsWith("- [")) ?? []) {
      const found = /^- \[ \] T(\d{3})( \[P\])?( \[US(\d+)\])? (.+)$/.exec(line);
      if (!found) {
        faults.push(`grammar: ${line}`);
        continue;
      }
      if (Number(found[1]) !== next++) faults.push(`T${found[1]} is out of order`);
      if (found[4] !== story) faults.push(`T${found[1]} has the wrong story`);
      const path =
        /(?:^|[\s(`])((?:[\p{L}\p{M}\p{N}_.-]+\/)+[\w.-]*|[\w-]+\.\w{2,4})(?=[\s:,;)`]|$)/u.exec(
          found[5] ?? "",
        )?.[1];
      if (path === undefined) faults.push(`T${found[1]} names no file`);
      if (found[2] && path !== undefined && beside.has(path))
        faults.push(`T${found[1]} shares a file with another [P]`);
      if (found[2] && path !== undefined) beside.add(path);
    }
  }
  for (const head of [
    "## Dependencies & Execution Order",
    "## Parallel Example",
    "## Implementation Strategy",
  ])
    if (!text.includes(`\n${head}\n`)) faults.push(head);
  return faults;
}
