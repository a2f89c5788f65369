// Few files for what a start loads.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";

/**
 * A plugin for a second build, from the `inputs` of the first. esbuild makes a file of all modules
 * that the same entries reach, and every `import()` is an entry: a hall started from 77 files, most
 * of them small, and to Node a file costs more than what is in it. Here the modules of the `starts`
 * are told apart only by who needs them: of the starts and the `others`, by name, and of what runs
 * without the `hall`, by whether it is one or several. An entry that reaches one module of such a
 * part imports all of it, and so each part is one file.
 */
export function gather(inputs, { starts, others, main, hall }, root) {
  const named = Object.entries({ ...starts, ...others }).map(([name, entries]) => [
    name,
    reach(inputs, entries),
  ]);
  const outside = outsideHall(inputs, main, hall);
  const parts = new Map();
  for (const file of reach(inputs, Object.values(starts).flat())) {
    // It awaits the whole command: a part that contained it could not load before the command ends.
    if (file === main) continue;
    const needing = named.flatMap(([name, files]) => (files.has(file) ? [name] : []));
    const count = outside.filter((files) => files.has(file)).length;
    const name = `part:${[...needing, ...(count === 0 ? [] : count === 1 ? ["one outside"] : ["some outside"])].join(", ")}`;
    parts.set(name, [...(parts.get(name) ?? []), file]);
  }
  joinSmall(parts, (file) => inputs[file].bytes);
  const neededBy = (entry) => {
    const files = reach(inputs, [entry]);
    return [...parts.keys()].filter((name) => parts.get(name).some((file) => files.has(file)));
  };
  const entries = new Set([
    ...Object.values({ ...starts, ...others }).flat(),
    ...Object.keys(inputs).flatMap((file) => laterOf(inputs, file)),
  ]);
  const partsOf = new Map([...entries].map((entry) => [resolve(root, entry), neededBy(entry)]));
  return {
    name: "gather",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^part:/ }, ({ path }) => ({ path, namespace: "part" }));
      // Packages and JSON go where those who import them go.
      onLoad({ filter: /^/, namespace: "part" }, ({ path }) => ({
        contents: importing(
          parts.get(path).flatMap((file) => (/^src\/.*\.ts$/.test(file) ? [`./${file}`] : [])),
        ),
        resolveDir: root,
      }));
      onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        const needed = partsOf.get(path);
        // Last, so that lines keep their numbers, and what the entry itself imports comes first.
        return (
          needed && {
            contents: `${readFileSync(path, "utf8")}\n${importing(needed)}`,
            loader: "ts",
          }
        );
      });
    },
  };
}

/** Small parts that commands without a hall need too become one: what they import, such a command has anyway. */
function joinSmall(parts, bytesOf) {
  const small = [...parts].filter(
    ([name, files]) =>
      name.includes("some outside") &&
      files.reduce((sum, file) => sum + bytesOf(file), 0) < smallBytes,
  );
  for (const [name] of small) parts.delete(name);
  if (small.length > 0)
    parts.set(
      "part:small",
      small.flatMap(([, files]) => files),
    );
}

const smallBytes = 10_000;

const importing = (paths) => paths.map((path) => `import ${JSON.stringify(path)};\n`).join("");

/** Everything that is there once these entries are loaded. */
function reach(inputs, entries) {
  const reached = new Set(entries);
  for (const file of reached)
    for (const { path, kind, external } of inputs[file].imports)
      if (!external && kind !== "dynamic-import") reached.add(path);
  return reached;
}

/** The modules that a module imports dynamically. */
function laterOf(inputs, file) {
  return inputs[file].imports.flatMap(({ path, kind, external }) =>
    kind === "dynamic-import" && !external ? [path] : [],
  );
}

/** The files that a process can load, one `import()` after another, without loading the hall. */
function outsideHall(inputs, main, hall) {
  const found = new Map([[main, reach(inputs, [main])]]);
  for (const [, files] of found) {
    if (files.has(hall)) continue;
    for (const later of [...files].flatMap((file) => laterOf(inputs, file)))
      if (!found.has(later)) found.set(later, reach(inputs, [later]));
  }
  return [...found.values()].filter((files) => !files.has(hall));
}
