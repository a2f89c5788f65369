import { existsSync } from "node:fs";

/**
 * The file a worker thread starts from, given its source beside the caller's module. In a build it is
 * `<name>.js` beside the bundle, while that module is in the bundle itself or in a chunk one folder below.
 */
export function findWorker(name: string, source: URL): URL {
  const places = [`./${name}.js`, `../${name}.js`];
  // From source, Node 20 starts no worker: it takes the built one.
  if (!("typescript" in process.features))
    places.push(`../../dist/${name}.js`, `../../../dist/${name}.js`);
  const built = places.map((path) => new URL(path, source));
  return built.find((file) => existsSync(file)) ?? source;
}
