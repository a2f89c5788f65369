import { digestModules } from "../registry/modules.ts";
import type { Entries } from "../trust/ledger.ts";
import type { Settings } from "./settings.ts";

/** A file of the project that would run inside the hall. */
export interface ModuleReview {
  readonly file: string;
  readonly change: "new" | "changed" | "same";
}

export interface ModuleSession {
  readonly settings: Settings;
  readonly entries: Entries;
}

/** True if the project names toolkit modules that are not approved as they are now. */
export async function hasUnapprovedModules(session: ModuleSession): Promise<boolean> {
  const modules = compareModules(session.entries, await findModules(session));
  return modules.some(({ change }) => change !== "same");
}

export function findModules({
  settings,
}: ModuleSession): Promise<Readonly<Record<string, string>>> {
  return digestModules(settings.config.toolkits, settings.folder);
}

export function compareModules(
  { modules: approved = {} }: Entries,
  found: Readonly<Record<string, string>>,
): readonly ModuleReview[] {
  return Object.entries(found).map(([file, digest]): ModuleReview => {
    if (!Object.hasOwn(approved, file)) return { file, change: "new" };
    return { file, change: approved[file] === digest ? "same" : "changed" };
  });
}
