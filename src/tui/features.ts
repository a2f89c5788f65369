import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findClaim } from "../workflow/claim.ts";
import { findActive, listFeatureNames, readFeature, readNumbering } from "../workflow/feature.ts";
import { nameFeature, shortNameOf } from "../workflow/numbering.ts";
import { findPlace } from "../workflow/place.ts";
import type { FeatureView } from "./state.ts";

/** The features of a folder as its files tell them: they are here, whoever works on them. */
export interface FeatureSource {
  /** A checkout of the project: its own folder, or a worktree. */
  readonly folder: string;
  /** Branches there are, where it is a repository. */
  readonly branches: readonly string[];
}

export async function readFeatures({ folder, branches }: FeatureSource): Promise<readonly FeatureView[]> {
  const place = await findPlace(folder, [folder]);
  const active = await findActive(place);
  const names = await listFeatureNames(place.project);
  return Promise.all(
    names.map(async (name) => {
      const path = join(place.project, "specs", name);
      const [feature, run] = await Promise.all([readFeature({ ...place, path }), findClaim(path)]);
      return {
        ...feature,
        number: /^(\d{8}-\d{6}|\d+)/.exec(name)?.[0] ?? "",
        branch: branches.includes(name) ? name : await readBranch(path, branches),
        tasks: feature.tasks,
        isActive: path === active,
        run: run && { step: run.step, isAtWork: run.isAtWork, arguments: run.arguments },
      };
    }),
  );
}

/** As the spec says it, while there is such a branch. */
async function readBranch(directory: string, branches: readonly string[]): Promise<string | undefined> {
  const text = await readFile(join(directory, "spec.md"), "utf8").catch(() => "");
  const named = /^\*\*Feature Branch\*\*:\s*`?\[?([^`\]\s]+)/m.exec(text)?.[1];
  return named !== undefined && branches.includes(named) ? named : undefined;
}

/** The folder a new feature gets, for servers that do not choose it themselves. */
export async function placeNewFeature(folder: string, description: string, now: Date): Promise<string> {
  const style = await readNumbering({ root: folder, project: folder });
  const { name } = nameFeature({ taken: await listFeatureNames(folder), shortName: shortNameOf(description), style, now });
  return join(folder, "specs", name);
}
