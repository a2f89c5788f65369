import { existsSync } from "node:fs";

/**
 * The file a worker thread starts from. In a build that is `<name>.js` beside the bundle, while the
 * caller's module is in the bundle itself or in a chunk one folder below; unbuilt it is `source`.
 */
export function findWorker(callerUrl: string, name: string, source: string): URL {
  const built = [`./${name}.js`, `../${name}.js`].map((path) => new URL(path, callerUrl));
  return built.find((file) => existsSync(file)) ?? new URL(source, callerUrl);
}
