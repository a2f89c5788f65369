import { join } from "node:path";
import { HallError } from "../../base/errors.ts";
import { findPlace, readInside } from "../../workflow/artefacts.ts";
import { listFeatureNames, readFeature } from "../../workflow/feature.ts";
import { findOpenQuestions } from "../../workflow/spec.ts";
import { method, type PageParts } from "./area.ts";

/** The features of the workflow. Its steps run as calls of the `speckit` tools. */
export function featureArea({ hall, folder }: PageParts) {
  return {
    /** `isOn` is false if the hall has no workflow. */
    features: method("read", {}, async () => {
      const place = await findPlace(folder, [folder]);
      const names = await listFeatureNames(place.project);
      const pathOf = (name: string): string => join(place.project, "specs", name);
      const features = await Promise.all(
        names.map((name) => readFeature({ ...place, path: pathOf(name) }).catch(() => undefined)),
      );
      return {
        features: features.filter((feature) => feature !== undefined),
        isOn: hall.registry.findTool("speckit.specify") !== undefined,
      };
    }),
    featureFile: method(
      "read",
      { feature: "string", file: "string" },
      async ({ feature, file }) => {
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
    ),
  };
}
