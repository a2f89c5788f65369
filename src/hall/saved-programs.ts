import { HallError } from "../base/errors.ts";
import { readProjectFile, replaceProjectFile } from "../base/project-files.ts";
import type { EvaluationMode, Language } from "../toolkits/programs/protocol.ts";
import {
  parseSaved,
  readSavedFolder,
  savedName,
  savedPath,
  writeSaved,
} from "../toolkits/programs/saved.ts";
import { heldProgram } from "../toolkits/programs/saved-toolkit.ts";
import { notifyHall } from "./admin-client.ts";

export interface ProgramToSave {
  readonly name: string;
  readonly language: Language;
  readonly code: string;
  /** Ignored if the code has front matter of its own. */
  readonly description?: string | undefined;
  readonly mode: EvaluationMode;
}

export interface SavedFilePlace {
  /** Inside the project. */
  readonly file: string;
  readonly tool: string;
}

/** Writes a program as a tool of the project. It is held back until a person approves it. Throws CONFLICT. */
export async function saveProgram(
  folder: string,
  { name: wish, language, code, description, mode }: ProgramToSave,
): Promise<SavedFilePlace> {
  const stem = savedName(wish);
  const fileName = `${stem.replaceAll("_", "-")}.${language}`;
  const file = savedPath(fileName);
  const words = description ?? `Runs the program ${stem.replaceAll("_", " ")}.`;
  const text = writeSaved(language, code, { description: words, mode });
  const { name } = await parseSaved(fileName, text);
  const before = await readProjectFile(folder, file);
  if (before !== undefined && before !== text)
    throw new HallError("CONFLICT", `${file} already exists`, {
      hint: "Choose another name, or remove the file first.",
    });
  await replaceProjectFile(folder, file, text);
  await notifyHall(folder, { trustChanged: {} });
  return { file, tool: `programs__${name}` };
}

/** Throws DENIED for a program of the project, given that it is not listed. */
export async function refuseHeldProgram(folder: string, name: string): Promise<void> {
  const { files } = await readSavedFolder(folder);
  if (files.some((file) => file.name === name)) throw heldProgram(name);
}
