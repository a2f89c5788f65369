import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { readPage, readPages, root } from "./pages.ts";

const pages = [
  ...readPages(),
  ...["AGENTS.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(readPage),
];

test("README is at most 130 lines long, and .ci/run runs its two npm lines", () => {
  const { text, examples } = readPage("README.md");
  expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(130);
  const lines = examples
    .map((example) => example.text.trim())
    .filter((one) => one.startsWith("npm"));
  expect(lines).toEqual(["npm ci && npm start", "npm ci && npm test"]);
  const script = readFileSync(`${root}.ci/run`, "utf8");
  for (const line of lines) expect(script).toContain(line);
});

test.each(pages)("$name has prose of at most 120 columns", ({ text }) => {
  const wide = text.split("\n").filter((line) => line.length > 120 && !line.startsWith("|"));
  expect(wide).toEqual([]);
});

test.each(pages)("$name links to files and headings that exist", ({ name, text }) => {
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  const broken = links
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => !isThere(name, target));
  expect(broken).toEqual([]);
});

test("AGENTS.md has a line for every folder of src", () => {
  const { text } = readPage("AGENTS.md");
  const folders = readdirSync(`${root}src`).map((name) => (name.includes(".") ? name : `${name}/`));
  expect(folders.filter((name) => !text.includes(`\nsrc/${name} `))).toEqual([]);
});

test("the glossary has at most 60 words, each once", () => {
  const rows = readPage("docs/glossary.md").text.match(/^\| (?!word )[^|]+/gm) ?? [];
  expect(rows.length).toBeLessThanOrEqual(60);
  expect(new Set(rows).size).toBe(rows.length);
});

test("docs/architecture.md names files and functions that exist", () => {
  const { text } = readPage("docs/architecture.md");
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
  const files = spans.filter(
    (span) => /^[a-z-]+\/([a-z/-]*\.ts|[a-z/-]*\/)?$/.test(span) && span !== "web/",
  );
  expect(files.filter((file) => !existsSync(`${root}src/${file}`))).toEqual([]);

  const functions = [...text.matchAll(/\*\*`(?:\w+\.)?(\w+)`\*\*/g)].map(([, name = ""]) => name);
  const source = readdirSync(`${root}src`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(`${root}src/${name}`, "utf8"))
    .join("\n");
  expect(functions.length).toBeGreaterThan(5);
  expect(functions.filter((name) => !new RegExp(`\\b${name}\\b`).test(source))).toEqual([]);
});

function isThere(page: string, target: string): boolean {
  const [path = "", heading] = target.split("#");
  const file = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(root, file))) return false;
  if (heading === undefined) return true;
  const headings = readFileSync(join(root, file), "utf8").match(/^#+ .*$/gm) ?? [];
  return headings.some((line) => anchorOf(line) === heading);
}

function anchorOf(heading: string): string {
  return heading
    .replace(/^#+ /, "")
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}
