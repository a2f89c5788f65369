import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Resource, ResourceSource } from "../tool.ts";
import { findPlace, readInside } from "./artefacts.ts";
import { type Feature, listFeatureNames, readFeature } from "./feature.ts";

const root = "speckit://features";

/** Features and their documents as resources: `speckit://features`, `…/001-x`, `…/001-x/spec.md`. */
export function createFeatureResources({
  folder,
  roots,
}: {
  readonly folder: string;
  readonly roots: readonly string[];
}): ResourceSource {
  const readAll = async (): Promise<readonly Feature[]> => {
    const place = await findPlace(folder, roots);
    const names = await listFeatureNames(place.project);
    return Promise.all(
      names.map((name) => readFeature({ ...place, path: join(place.project, "specs", name) })),
    );
  };
  const contentsOf = (uri: string, mimeType: string, text: string) => ({
    contents: [{ uri, mimeType, text }],
  });
  return {
    async list() {
      const features = await readAll();
      return features.length === 0 ? [] : [all, ...features.flatMap(describeFeature)];
    },
    templates: async () => ((await readAll()).length === 0 ? [] : [documents]),
    covers: (uri) => uri === root || uri.startsWith(`${root}/`),
    async read(uri) {
      const features = await readAll();
      if (uri === root) return contentsOf(uri, "application/json", JSON.stringify({ features }));

      const [name, ...rest] = decodeURI(uri.slice(root.length + 1)).split("/");
      const feature = features.find((known) => known.name === name);
      if (!feature || rest.includes("..")) throw missing(uri);
      if (rest.length === 0 || rest[0] === "")
        return contentsOf(uri, "application/json", JSON.stringify(feature));
      const place = await findPlace(folder, roots);
      const text = await readInside(place, join(feature.directory, ...rest));
      if (text === undefined) throw missing(uri);
      return contentsOf(uri, mimeOf(rest.at(-1) ?? ""), text);
    },
  };
}

const all: Resource = {
  uri: root,
  name: "features",
  title: "Features",
  description: "All features with their phase and next step.",
  mimeType: "application/json",
};

const documents: JsonObject = {
  uriTemplate: `${root}/{feature}/{+path}`,
  name: "feature document",
  description: "A document of a feature, such as spec.md or plan.md.",
  mimeType: "text/markdown",
};

function missing(uri: string): HallError {
  return new HallError("NOT_FOUND", `Resource not found: ${uri.slice(0, 200)}`, {
    details: { uri: uri.slice(0, 2_000) },
  });
}

function describeFeature({ name, files, phase }: Feature): readonly Resource[] {
  const documents = files.filter((file) => /\.(md|ya?ml|json|txt)$/.test(file));
  return [
    {
      uri: `${root}/${encodeURI(name)}`,
      name,
      description: phase === "done" ? "done" : `next step: ${phase}`,
      mimeType: "application/json",
    },
    ...documents.map((file) => ({
      uri: `${root}/${encodeURI(`${name}/${file.split("\\").join("/")}`)}`,
      name: `${name}/${file}`,
      mimeType: mimeOf(file),
    })),
  ];
}

function mimeOf(file: string): string {
  if (file.endsWith(".md")) return "text/markdown";
  return file.endsWith(".json") ? "application/json" : "text/plain";
}

const quietMs = 200;

/** Watches for features added or removed by other programs. If watching fails, the list updates after the next step. */
export function watchSpecs(folder: string, changed: () => void): { renew(): void; close(): void } {
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  const start = (): void => {
    if (watcher) return;
    try {
      watcher = watch(join(folder, "specs"), { persistent: false }, () => {
        timer ??= setTimeout(() => {
          timer = undefined;
          changed();
        }, quietMs).unref();
      });
      watcher.on("error", () => {
        watcher?.close();
        watcher = undefined;
      });
    } catch {
      // The folder does not exist yet.
    }
  };
  start();
  return {
    renew: start,
    close() {
      clearTimeout(timer);
      watcher?.close();
    },
  };
}
