/**
 * Programs of a project that are tools: `.guildhall/tools/weekly-report.lisp`, with front matter in
 * its first comment.
 */
import { join } from "node:path";
import { HallError, messageOf } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { listProjectFolder, readProjectFile } from "../../base/project-files.ts";
import type { EvaluationMode, Language } from "./protocol.ts";

export interface SavedFile {
  /** `weekly-report.lisp`. */
  readonly fileName: string;
  readonly text: string;
  /** The name under which it is approved. It differs for programs that may change something. */
  readonly textName: string;
  /** `weekly_report`. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** `act` if it may call tools that change something. */
  readonly mode: EvaluationMode;
  readonly language: Language;
}

export interface SavedFolder {
  readonly files: readonly SavedFile[];
  /** One message per file that is skipped. */
  readonly problems: readonly string[];
}

const folderName = join(".guildhall", "tools");
const extension = /\.(lisp|js)$/;
const filesMax = 200;
const fields = ["name", "description", "class", "input"];

/** The path of a saved program inside its project. */
export function savedPath(fileName: string): string {
  return join(folderName, fileName);
}

export async function readSavedFolder(folder: string): Promise<SavedFolder> {
  const problems: string[] = [];
  const skip = (path: string) => (error: unknown) => {
    problems.push(`${path} is skipped: ${messageOf(error)}`);
    return undefined;
  };
  const listed = (await listProjectFolder(folder, folderName).catch(skip(folderName))) ?? [];
  const names = listed.filter((name) => extension.test(name)).sort();
  const files: SavedFile[] = [];
  for (const fileName of names.slice(0, filesMax)) {
    const path = savedPath(fileName);
    try {
      const text = await readProjectFile(folder, path);
      const file = text === undefined ? undefined : await parseSaved(fileName, text);
      if (!file) continue;
      const twin = files.find(({ name }) => name === file.name);
      if (twin) throw new Error(`${twin.fileName} has the same name, ${file.name}`);
      files.push(file);
    } catch (error) {
      skip(path)(error);
    }
  }
  if (names.length > filesMax)
    problems.push(
      `${folderName} has ${names.length} programs; only the first ${filesMax} are used`,
    );
  return { files, problems };
}

/** Throws INVALID_PARAMS. */
export async function parseSaved(fileName: string, text: string): Promise<SavedFile> {
  const matter = findMatter(text);
  if (matter === undefined)
    throw fault("it has no front matter: begin with a comment of lines from --- to ---");
  const { parseMatter } = await import("./front-matter.ts");
  let given: unknown;
  try {
    given = parseMatter(matter);
  } catch (error) {
    throw fault(`its front matter is no YAML: ${messageOf(error)}`);
  }
  if (!isObject(given)) throw fault("its front matter must be a map");
  const { name = fileName.replace(extension, ""), description, class: mode = "explore" } = given;
  const { input = { type: "object", properties: {} } } = given;
  const unknown = Object.keys(given).find((key) => !fields.includes(key));
  if (unknown !== undefined)
    throw fault(`unknown field "${unknown}" (expected: ${fields.join(", ")})`);
  if (typeof description !== "string" || description.trim() === "")
    throw fault("missing description: models choose tools by it");
  if (mode !== "explore" && mode !== "act") throw fault("class must be explore or act");
  if (!isObject(input) || input.type !== "object")
    throw fault('input must be a JSON Schema with "type: object"');
  return {
    fileName,
    text,
    textName: `tools/${fileName}${mode === "act" ? " (may act)" : ""}`,
    name: savedName(`${name}`),
    description: description.trim(),
    inputSchema: input,
    mode,
    language: fileName.endsWith(".js") ? "js" : "lisp",
  };
}

/** `Weekly report` and `weekly-report` become `weekly_report`. Throws INVALID_PARAMS. */
export function savedName(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[_\d]+|_+$/g, "")
    .slice(0, 50);
  if (name !== "") return name;
  throw fault(`invalid name "${text.slice(0, 50)}": it must contain a letter from a to z`);
}

/** A program as a file: the code with front matter, unless it has some already. */
export function writeSaved(
  language: Language,
  code: string,
  { description, mode }: Pick<SavedFile, "description" | "mode">,
): string {
  if (findMatter(code) !== undefined) return code;
  const mark = language === "js" ? "//" : ";;;";
  const lines = ["---", `description: ${JSON.stringify(description)}`, `class: ${mode}`, "---"];
  return `${lines.map((line) => `${mark} ${line}`).join("\n")}\n${code.trimEnd()}\n`;
}

/** The lines between two comments with `---`, without the marks of the comments. */
function findMatter(text: string): string | undefined {
  const lines = text.split(/\r?\n/);
  const bare = lines.map((line) => /^(?:;+|\/\/) ?(.*)$/.exec(line)?.[1]);
  if (bare[0]?.trim() !== "---") return undefined;
  const end = bare.findIndex((line, at) => at > 0 && line?.trim() === "---");
  const inside = bare.slice(1, end);
  return end === -1 || inside.includes(undefined) ? undefined : inside.join("\n");
}

function fault(message: string): HallError {
  return new HallError("INVALID_PARAMS", message);
}
