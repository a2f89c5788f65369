import { join } from "node:path";
import { readInside } from "../workflow/artefacts.ts";
import { findClaim } from "../workflow/claim.ts";
import { findActive, listFeatureNames, readFeature, readNumbering } from "../workflow/feature.ts";
import { nameFeature, shortNameOf } from "../workflow/feature-name.ts";
import { type FeaturePlace, findPlace } from "../workflow/place.ts";
import type { FeatureView } from "./state.ts";

/** The features of a folder as its files tell them: they are here, whoever works on them. */
export interface FeatureSource {
  /** A checkout of the project: its own folder, or a worktree. */
  readonly folder: string;
  /** Branches there are, where it is a repository. */
  readonly branches: readonly string[];
}

export interface ReadFeatures {
  readonly items: readonly FeatureView[];
  /** Why others are not among them: one that is too large, or lies behind a link, hides no other. */
  readonly unreadable: readonly string[];
}

export async function readFeatures({ folder, branches }: FeatureSource): Promise<ReadFeatures> {
  const place = await findPlace(folder, [folder]);
  const active = await findActive(place).catch(() => undefined);
  const names = await listFeatureNames(place.project);
  const describe = async (name: string): Promise<FeatureView> => {
    const path = join(place.project, "specs", name);
    const [feature, run] = await Promise.all([readFeature({ ...place, path }), findClaim(path)]);
    return {
      ...feature,
      number: /^(\d{8}-\d{6}|\d+)/.exec(name)?.[0] ?? "",
      branch: branches.includes(name) ? name : await readBranch({ ...place, path }, branches),
      tasks: feature.tasks,
      isActive: path === active,
      run: run && { step: run.step, isAtWork: run.isAtWork, arguments: run.arguments },
    };
  };
  const read = await Promise.all(
    names.map((name) =>
      describe(name).catch((error: unknown) => `${name} is not shown: ${explain(error)}`),
    ),
  );
  return {
    items: read.filter((one) => typeof one !== "string"),
    unreadable: read.filter((one) => typeof one === "string"),
  };
}

function explain(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** As the spec says it, while there is such a branch. */
async function readBranch(
  place: FeaturePlace,
  branches: readonly string[],
): Promise<string | undefined> {
  const text = (await readInside(place, join(place.path, "spec.md"))) ?? "";
  const named = /^\*\*Feature Branch\*\*:\s*`?\[?([^`\]\s]+)/m.exec(text)?.[1];
  return named !== undefined && branches.includes(named) ? named : undefined;
}

/** The folder a new feature gets, for servers that do not choose it themselves. */
export async function placeNewFeature(
  folder: string,
  description: string,
  now: Date,
): Promise<string> {
  const style = await readNumbering({ root: folder, project: folder });
  const { name } = nameFeature({
    taken: await listFeatureNames(folder),
    shortName: shortNameOf(description),
    style,
    now,
  });
  return join(folder, "specs", name);
}
