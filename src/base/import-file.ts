/**
 * Compiled code that V8 keeps between starts has lost its `import()` on Node 20, so a build hands in
 * the one of the file that loads it (`cli/loader.ts`).
 */
declare const importOfLoader: ((url: string) => Promise<Record<string, unknown>>) | undefined;

/** Imports a module of a project, which is not part of the build. */
export function importFile(url: string): Promise<Record<string, unknown>> {
  return typeof importOfLoader === "undefined" ? import(url) : importOfLoader(url);
}
