import { join } from "node:path";
import { HallError } from "../../base/errors.ts";
import { findPlace, readInside } from "../../workflow/artefacts.ts";
import { type Feature, listFeatureNames, readFeature } from "../../workflow/feature.ts";
import { findOpenQuestions } from "../../workflow/spec.ts";
import type { Area, PageParts } from "./area.ts";

/** The features of the workflow. Its steps run as calls of the `speckit` tools. */
export interface FeatureMethods {
  features: {
    params: Record<string, never>;
    result: {
      readonly features: readonly Feature[];
      /** False if the hall has no workflow. */
      readonly isOn: boolean;
    };
  };
  featureFile: {
    params: { readonly feature: string; readonly file: string };
    result: { readonly text: string; readonly questions: readonly string[] };
  };
}

export function featureArea({ hall, folder }: PageParts): Area<FeatureMethods> {
  return {
    features: {
      scope: "read",
      async run() {
        const place = await findPlace(folder, [folder]);
        const names = await listFeatureNames(place.project);
        const features = await Promise.all(
          names.map((name) =>
            readFeature({ ...place, path: join(place.project, "specs", name) }).catch(
              () => undefined,
            ),
          ),
        );
        return {
          features: features.filter((feature) => feature !== undefined),
          isOn: hall.registry.findTool("speckit.specify") !== undefined,
        };
      },
    },
    featureFile: {
      scope: "read",
      fields: { feature: "string", file: "string" },
      async run({ feature, file }) {
        // Only files that the list names, so that no path can leave the feature.
        const place = await findPlace(folder, [folder]);
        const names = await listFeatureNames(place.project);
        const path = join(place.project, "specs", feature);
        const known = names.includes(feature) ? (await readFeature({ ...place, path })).files : [];
        const text = known.includes(file) ? await readInside(place, join(path, file)) : undefined;
        if (text === undefined)
          throw new HallError("NOT_FOUND", `${feature} has no file "${file}"`);
        return { text, questions: findOpenQuestions(text) };
      },
    },
  };
}
