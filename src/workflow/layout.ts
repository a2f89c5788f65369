import type { Survey } from "./survey.ts";
import { endings } from "./technologies.ts";

/** Where files of a feature go: into the folders the repository has for such files, named as its files are. */
export interface Layout {
  readonly language: string | undefined;
  /** A file, or the folder for it where nobody has decided on a language. */
  fileFor(role: FileRole, name: string): string;
  /** Undefined where nobody has decided on a language. */
  testFor(name: string): string | undefined;
  /** Folders of the feature that are not there yet. */
  readonly newFolders: readonly string[];
}

export type FileRole = "model" | "service" | "interface";

const usualFolders: Readonly<Record<FileRole, readonly string[]>> = {
  model: ["models", "model", "entities", "domain", "schemas", "types"],
  service: ["services", "service", "usecases", "use-cases", "core"],
  interface: [
    "routes",
    "api",
    "controllers",
    "handlers",
    "endpoints",
    "commands",
    "cli",
    "views",
    "pages",
    "routers",
  ],
};

export interface LayoutOptions {
  readonly survey: Survey;
  readonly language: string | undefined;
  /** What the feature's own folder is called, in words; undefined where its files need none. */
  readonly topic: string | undefined;
}

export function layoutOf({ survey, language, topic }: LayoutOptions): Layout {
  const source = survey.sourceFolder || (survey.folders.length === 0 ? "src" : "");
  const style = survey.naming ?? usualNaming(language);
  const own =
    topic === undefined
      ? source || "."
      : joinPath(source, nameIn(style === "pascal" ? "kebab" : style, topic));
  const ending = language === undefined ? undefined : endings[language];
  const folderFor = (role: FileRole): string =>
    survey.folders.find(
      ({ path }) =>
        usualFolders[role].includes(path.split("/").at(-1) ?? "") &&
        (source === "" || path.startsWith(source.split("/")[0] ?? "")),
    )?.path ?? own;
  const roles: readonly FileRole[] = ["model", "service", "interface"];
  return {
    language,
    fileFor: (role, name) =>
      ending
        ? joinPath(folderFor(role), `${nameIn(style, name)}.${ending.ending}`)
        : `${folderFor(role)}/`,
    testFor(name) {
      if (!ending) return undefined;
      const file = ending.test(nameIn(style, name));
      const suffix = /[._-](spec|test)(\.\w+)$/.exec(survey.tests?.example ?? "")?.[0];
      const named =
        suffix && /\.(test|spec)\./.test(file) ? `${nameIn(style, name)}${suffix}` : file;
      const folder = survey.tests ? survey.tests.folder || own : language === "Go" ? own : "tests";
      return joinPath(folder, named);
    },
    newFolders:
      own !== "." &&
      roles.some((role) => folderFor(role) === own) &&
      !survey.folders.some(({ path }) => path === own)
        ? [own]
        : [],
  };
}

function joinPath(folder: string, name: string): string {
  return folder === "" || folder === "." ? name : `${folder}/${name}`;
}

function usualNaming(language: string | undefined): NonNullable<Survey["naming"]> {
  if (language === "Java" || language === "Kotlin" || language === "C#" || language === "PHP")
    return "pascal";
  return language === "Python" || language === "Go" || language === "Rust" || language === "Ruby"
    ? "snake"
    : "kebab";
}

function nameIn(style: NonNullable<Survey["naming"]>, words: string): string {
  const parts = words
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== "");
  const upper = (part: string): string => part.charAt(0).toUpperCase() + part.slice(1);
  switch (style) {
    case "kebab":
      return parts.join("-");
    case "snake":
      return parts.join("_");
    case "camel":
      return parts.map((part, at) => (at === 0 ? part : upper(part))).join("");
    case "pascal":
      return parts.map(upper).join("");
  }
}
