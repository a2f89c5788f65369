import { join } from "node:path";
import { type FeaturePlace, findPlace, readInside } from "../workflow/artefacts.ts";
import { findClaim } from "../workflow/claim.ts";
import { findActive, listFeatureNames, readFeature } from "../workflow/feature.ts";
import { nameFeature, shortNameOf } from "../workflow/feature-name.ts";
import type { FeatureView } from "./state.ts";

/** The features of a folder, read from its files. */
export interface FeatureSource {
  /** The project or one of its worktrees. */
  readonly folder: string;
  /** The branches of the repository, if it is one. */
  readonly branches: readonly string[];
}

export interface FeatureList {
  readonly items: readonly FeatureView[];
  /** Why other features are missing: too large, or behind a link. */
  readonly unreadable: readonly string[];
}

export async function readFeatures({ folder, branches }: FeatureSource): Promise<FeatureList> {
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
      describe(name).catch((error: unknown) => `cannot read ${name}: ${reasonOf(error)}`),
    ),
  );
  return {
    items: read.filter((one) => typeof one !== "string"),
    unreadable: read.filter((one) => typeof one === "string"),
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The branch named in the spec, if it exists. */
async function readBranch(
  place: FeaturePlace,
  branches: readonly string[],
): Promise<string | undefined> {
  const text = (await readInside(place, join(place.path, "spec.md"))) ?? "";
  const named = /^\*\*Feature Branch\*\*:\s*`?\[?([^`\]\s]+)/m.exec(text)?.[1];
  return named !== undefined && branches.includes(named) ? named : undefined;
}

/** The folder of a new feature, for servers that do not choose it themselves. */
export async function placeNewFeature(
  folder: string,
  description: string,
  now: Date,
): Promise<string> {
  const shortName = shortNameOf(description);
  const { name } = await nameFeature({ root: folder, project: folder }, now, { shortName });
  return join(folder, "specs", name);
}
