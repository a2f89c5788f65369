import { mkdirSync, openSync } from "node:fs";

const results = new URL("results/", import.meta.url);
mkdirSync(results, { recursive: true });

/** Where the processes of a run write their log: a hall logs every call. */
export const stderr = openSync(new URL("stderr.txt", results), "w");
