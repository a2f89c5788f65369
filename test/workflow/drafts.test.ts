import { expect, test } from "vitest";
import { parseSpec } from "../../src/workflow/spec.ts";
import { draftSpec, markDoubts, writeSpec } from "../../src/workflow/spec-draft.ts";
import { startBench } from "./bench.ts";
import { makeProject } from "./projects.ts";

/** What a description becomes, sentence by sentence. */
function draft(description: string): ReturnType<typeof parseSpec> {
  const input = { description, branch: "001-x", date: "2026-01-01" };
  return parseSpec(writeSpec(markDoubts(draftSpec(input), input), input));
}

const requirementsOf = (description: string): readonly string[] =>
  draft(description)
    .requirements.map(({ text }) => text)
    .filter((text) => !text.includes("[NEEDS CLARIFICATION"));

test.each([
  [
    "A tool that converts Markdown files to PDF, and warns when a link is broken",
    [
      "The system MUST convert Markdown files to PDF.",
      "When a link is broken, the system MUST warn.",
    ],
  ],
  [
    "Admins can export orders, and customers get an email when their order ships",
    [
      "Admins MUST be able to export orders.",
      "When their order ships, customers MUST get an email.",
    ],
  ],
  [
    "Managers can create reports and archive them when a quarter ends",
    [
      "Managers MUST be able to create reports.",
      "When a quarter ends, managers MUST be able to archive reports.",
    ],
  ],
  [
    "Members can edit and cancel bookings unless the meeting has begun",
    [
      "Unless the meeting has begun, members MUST be able to edit bookings.",
      "Unless the meeting has begun, members MUST be able to cancel bookings.",
    ],
  ],
  [
    "When an order ships, customers get an email",
    ["When an order ships, customers MUST get an email."],
  ],
  [
    "Users can call the API. Rate limit 100 requests per minute per key",
    [
      "Users MUST be able to call the API.",
      "The rate limit MUST be 100 requests per minute per key.",
    ],
  ],
])(
  "a condition holds for what it stands with, and each subject for itself: %s",
  (description, requirements) => {
    expect(requirementsOf(description)).toEqual(requirements);
  },
);

test("entities are what people make many of, never a number, and keep their abbreviations", () => {
  expect(
    draft("Users can call the API. Rate limit 100 requests per minute per key")
      .entities.map(({ name }) => name)
      .join(),
  ).not.toMatch(/\d/);
  expect(draft("Managers can create CSV reports").entities).toMatchObject([{ name: "CSV Report" }]);
  const added = draft("Add dark mode to the settings page");
  expect(added.openQuestions.join("\n")).not.toMatch(/settings pages|created them/);
});

test("a description that says nothing gets no spec and no folder, but what one needs", async () => {
  using project = makeProject();
  await using bench = await startBench({ folder: project.folder });
  for (const feature_description of ["asdf", "Dark mode"]) {
    expect(
      await bench.call("specify", { feature_description, spec_directory: project.path("specs") }),
    ).toMatchObject({
      isError: true,
      code: "validation",
      text: expect.stringContaining("no spec was written"),
    });
  }
  expect(project.files("specs")).toEqual([]);
});

test("requirements are not called unambiguous while one of them is open", async () => {
  using project = makeProject();
  await using bench = await startBench({ folder: project.folder });
  const { data } = await bench.call("specify", {
    feature_description: "Users can upload photos",
    spec_directory: project.path("specs"),
  });
  expect(project.read(`${data.folder}/checklists/requirements.md`)).toContain(
    "- [ ] Requirements are testable and unambiguous",
  );
  await bench.call("clarify", {
    spec_directory: String(data.directory),
    answers: ["1", "1", "B", "1", "1"],
  });
  expect(project.read(`${data.folder}/spec.md`)).toContain(
    "Photos MUST be seen and changed by only whoever created them.",
  );
  expect(project.read(`${data.folder}/checklists/requirements.md`)).toContain(
    "- [x] Requirements are testable and unambiguous",
  );
  await bench.call("plan", { spec_directory: String(data.directory) });
  expect(project.read(`${data.folder}/research.md`)).not.toContain("names no figure");
});
