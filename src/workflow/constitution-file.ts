import { join } from "node:path";
import { readInside } from "./artefacts.ts";
import { bodyOf, findSection, sectionsOf } from "./markdown.ts";
import type { Place } from "./place.ts";

/** `.specify/memory/constitution.md`: what every plan of the project is held against. */
export interface Constitution {
  readonly text: string;
  readonly version: string | undefined;
  readonly principles: readonly Principle[];
  /** Placeholders nobody has filled in. */
  readonly blanks: readonly string[];
}

export interface Principle {
  readonly name: string;
  readonly text: string;
}

export function constitutionPath({ project }: Pick<Place, "project">): string {
  return join(project, ".specify", "memory", "constitution.md");
}

export async function readConstitution(place: Place): Promise<Constitution | undefined> {
  const text = await readInside(place, constitutionPath(place));
  return text === undefined ? undefined : parseConstitution(text.replaceAll("\r\n", "\n"));
}

export function parseConstitution(text: string): Constitution {
  const core = findSection(text, /^Core Principles/i);
  const heads = sectionsOf(text).filter(
    (section) =>
      core && section.level === core.level + 1 && section.from > core.from && section.to <= core.to,
  );
  return {
    text,
    version: /\*\*Version\*\*:\s*(\d+\.\d+\.\d+)/.exec(text)?.[1],
    principles: heads
      .map((section) => ({
        name: section.title.replace(/^(?:[IVX]+|\d+)\.\s*/, ""),
        text: bodyOf(text, section)
          .replace(/<!--[\s\S]*?-->/g, "")
          .trim(),
      }))
      .filter(({ name }) => !/^\[[A-Z0-9_]+\]$/.test(name)),
    blanks: [
      ...new Set(text.replace(/<!--[\s\S]*?-->/g, "").match(/\[[A-Z][A-Z0-9_]{2,}\]/g) ?? []),
    ],
  };
}
