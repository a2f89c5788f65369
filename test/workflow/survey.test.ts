import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Scope } from "../../src/base/scope.ts";
import { parseCommand } from "../../src/workflow/command.ts";
import { surveyRepository } from "../../src/workflow/survey.ts";
import { startBench } from "./bench.ts";
import { descriptions, makeProject, pythonTool, typescriptService } from "./projects.ts";

test("a survey lists languages, dependencies, folders, tests and commands of a repository", async () => {
  using service = makeProject(typescriptService);
  expect(await surveyRepository(service.folder, new Scope())).toMatchObject({
    fileCount: 9,
    languages: [{ name: "TypeScript", files: 4 }],
    runtime: { text: "Node.js >=20", from: "package.json" },
    manifests: [{ path: "package.json", dependencies: ["fastify 5.2.0", "pg 8.13.1"] }],
    commands: {
      install: { text: "npm install", from: "package.json" },
      test: { text: "npm run test" },
      run: { text: "npm run start" },
    },
    sourceFolder: "src",
    tests: { files: 1, example: "test/price-service.test.ts" },
  });
  using tool = makeProject(pythonTool);
  expect(await surveyRepository(tool.folder, new Scope())).toMatchObject({
    languages: [{ name: "Python", files: 3 }],
    manifests: [{ dependencies: ["click>=8.1", "rich"] }],
    sourceFolder: "logsift",
    commands: { test: { text: "pytest" } },
  });
  using broken = makeProject({
    "package.json": "{",
    "go.mod": "module example.com/x\n\ngo 1.23\n\nrequire github.com/go-chi/chi/v5 v5.1.0\n",
    "main.go": "",
  });
  expect(await surveyRepository(broken.folder, new Scope())).toMatchObject({
    runtime: { text: "Go 1.23" },
    manifests: [{ path: "go.mod", dependencies: ["github.com/go-chi/chi/v5 v5.1.0"] }],
    languages: [{ name: "Go" }],
  });
});

test("a survey reads at most 5,000 files, and every step works on so many", async () => {
  using project = makeProject({ "package.json": typescriptService["package.json"] ?? "" });
  for (let folder = 0; folder < 100; folder++) {
    mkdirSync(project.path(`src/part-${folder}`), { recursive: true });
    for (let file = 0; file < 52; file++)
      writeFileSync(join(project.folder, `src/part-${folder}/file-${file}.ts`), "");
  }
  await using bench = await startBench({ folder: project.folder });
  let spec_directory = project.path("specs");
  for (const step of ["specify", "clarify", "plan", "tasks", "analyze", "checklist", "status"]) {
    const { data, isError, text } = await bench.call(step, {
      spec_directory,
      ...(step === "specify" ? { feature_description: descriptions.empty } : {}),
      ...(step === "clarify" ? { answers: ["yes", "yes", "yes"] } : {}),
    });
    expect(isError, text).toBe(false);
    if (step === "specify") spec_directory = String(data.directory);
  }
  expect(await surveyRepository(project.folder, new Scope())).toMatchObject({
    fileCount: 5_000,
    isCut: true,
  });
});

test("a command is a program with arguments, without shell syntax", () => {
  expect(parseCommand(`go test ./... -run "A B" ''`)).toEqual([
    "go",
    "test",
    "./...",
    "-run",
    "A B",
    "",
  ]);
  for (const line of ["a | b", "a && b", "a > b", "$(a)", "`a`", "A=1 b", "a; b", "'a", "", "a\nb"])
    expect(() => parseCommand(line), line).toThrow("is not a plain command");
});
