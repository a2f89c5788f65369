import { describe, expect, test } from "vitest";
import { readDescription } from "../../src/workflow/description.ts";
import { shortNameOf } from "../../src/workflow/feature-name.ts";
import { parseSpec } from "../../src/workflow/spec.ts";
import { startBench } from "./bench.ts";
import { makeProject } from "./projects.ts";

describe("a description is sorted by its author's own words", () => {
  test("each sentence is a requirement as it was written", () => {
    const { requirements, title } = readDescription(
      "Users can upload photos, e.g. from a phone. Albums are grouped by date.",
    );
    expect(requirements).toEqual([
      "Users can upload photos, e.g. from a phone.",
      "Albums are grouped by date.",
    ]);
    expect(title).toBe("Users can upload photos, e.g. from a phone");
  });

  test("conditions are edge cases, figures are success criteria, stories are stories", () => {
    const story = "As a librarian, I want to lend books so that readers get them.";
    const condition = "When a book is lent, it must not be shown as available.";
    const figure = "A search takes at most 2 seconds.";
    expect(readDescription(`${story} ${condition} ${figure}`)).toMatchObject({
      requirements: [story, condition, figure],
      stories: [`${story} ${condition} ${figure}`],
      edgeCases: [condition],
      criteria: [figure],
      scenarios: [
        "Given the feature is in place, when a book is lent, then it must not be shown as available.",
      ],
      title: "Lend books",
    });
    expect(readDescription("Refunds are possible within 30 days.").criteria).toEqual([]);
    expect(readDescription("As support staff, we need to refund orders.").stories).toHaveLength(1);
  });

  test("questions and undecided parts are open, not required", () => {
    expect(
      readDescription("Users can share albums. Should albums be public? Maybe video later."),
    ).toMatchObject({
      requirements: ["Users can share albums."],
      questions: ["Should albums be public?", "Is “Maybe video later” part of this feature?"],
    });
  });

  test("labels and headings of the author decide", () => {
    const described = readDescription(`# Photo albums

Users can upload photos.

Out of scope: video

## Entities
- Album: a named list of photos
- Photo

## Acceptance criteria
Given an empty album, when a photo is added, then the album has one photo.`);
    expect(described).toMatchObject({
      title: "Photo albums",
      requirements: ["Users can upload photos."],
      assumptions: ["Out of scope: video"],
      entities: ["Album: a named list of photos", "Photo"],
      scenarios: ["Given an empty album, when a photo is added, then the album has one photo."],
    });
  });

  test("wrapped lines belong together, and Chinese and Japanese sentences are separated", () => {
    expect(readDescription("- first\n  line\n- second").requirements).toEqual([
      "first line",
      "second",
    ]);
    expect(readDescription("用户可以上传照片。相册按日期分组。").requirements).toHaveLength(2);
    expect(readDescription("x".repeat(100_000)).requirements).toHaveLength(1);
  });
});

test.each([
  ["Users can upload photos and organize them into albums", "users-upload-photos"],
  ["dark", "dark"],
  ["so it is", "so-it-is"],
  ["Füge die Größe hinzu", "fuge-die-große-hinzu"],
  ["写真", "写真"],
  ["사용자 메모 검색", "사용자-메모-검색"],
  ["?!", "feature"],
])("a folder name is made of the description's words: %s", (description, name) => {
  expect(shortNameOf(description)).toBe(name);
});

test("a recommended answer that was not confirmed is marked as an assumption", async () => {
  using project = makeProject();
  await using bench = await startBench({ folder: project.folder });
  const { data } = await bench.call("specify", {
    feature_description: "People upload photos",
    spec_directory: project.path("specs"),
  });
  await bench.call("clarify", {
    spec_directory: String(data.directory),
    answers: ["the photo is in the list", "It is tried again", "yes"],
  });
  const spec = project.read(`${data.folder}/spec.md`);
  expect(spec).toContain("**Then** the photo is in the list");
  expect(spec).toContain(
    "- Q: Which figure shows that the feature succeeds? → A: All acceptance scenarios pass (assumed)",
  );
  expect(spec).toMatch(/## Assumptions[\s\S]*- Assumed: Which figure shows .+ All acceptance/);
  expect(spec).toContain("its input is missing or wrong: it is tried again");
  expect(spec).not.toContain("Assumed: What happens");
});

test("the answer to an author's question is a requirement, or out of scope", async () => {
  using project = makeProject();
  await using bench = await startBench({ folder: project.folder });
  const { data } = await bench.call("specify", {
    feature_description: "People upload photos. Who may see them? Maybe video later.",
    spec_directory: project.path("specs"),
  });
  await bench.call("clarify", {
    spec_directory: String(data.directory),
    answers: ["the photo is in the list", "Only friends", "yes"],
  });
  const spec = project.read(`${data.folder}/spec.md`);
  const { requirements, assumptions, openQuestions } = parseSpec(spec);
  expect(requirements.map(({ text }) => text)).toEqual([
    "People upload photos.",
    "Who may see them? Only friends.",
  ]);
  expect(assumptions).toContain("Who may see them? Only friends.");
  expect(assumptions).toContain(
    "Assumed: Is “Maybe video later” part of this feature? Leave it out of this feature.",
  );
  expect(openQuestions).toEqual([]);
});

test("a plan names no file that the repository does not have", async () => {
  using project = makeProject({ "lib/app.rb": "", "lib/models/user.rb": "", "README.md": "# X\n" });
  await using bench = await startBench({ folder: project.folder });
  const { data } = await bench.call("specify", {
    feature_description: "Only users with an account can export 100 users as CSV.",
    spec_directory: project.path("specs"),
  });
  const spec_directory = String(data.directory);
  await bench.call("clarify", { spec_directory, answers: ["yes", "yes", "yes"] });
  for (const step of ["plan", "tasks"])
    expect(await bench.call(step, { spec_directory })).toMatchObject({ isError: false });
  const known = /^(?:lib\/|README\.md|specs\/)/;
  const tasks = project.read(`${data.folder}/tasks.md`);
  const paths = [...tasks.matchAll(/^- \[ \] .+$/gm)].flatMap(
    ([line]) => line.match(/[\w.-]+\/[\w./-]*|[\w-]+\.(?:rb|md|ts)\b/g) ?? [],
  );
  expect(paths.filter((path) => !known.test(path))).toEqual([]);
  expect(project.read(`${data.folder}/plan.md`)).not.toContain("# new");
});
