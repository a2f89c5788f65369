import { pathToFileURL } from "node:url";
import { HallError } from "../base/errors.ts";
import { importFile } from "../base/import-file.ts";
import type { JsonObject } from "../base/json.ts";
import type { Prompt, Resource, Tool, Toolkit } from "../tool.ts";

/** A toolkit as a module exports it. */
export type ExportedToolkit = Toolkit & { readonly cacheTtlSeconds?: number };

/** A request to the process of modules, about one version of one file. */
export interface ModuleRequest {
  readonly file: string;
  readonly digest: string;
  /** `load` returns what each toolkit offers; the others are members of one toolkit. */
  readonly does: "load" | "offer" | "call" | "health" | "read" | "get" | "close";
  readonly toolkit?: string;
  /** Of a tool or a prompt, or the URI of a resource. */
  readonly name?: string;
}

/** A toolkit of a module, as its process describes it. */
export interface ToolkitOffer
  extends Pick<ExportedToolkit, "id" | "prefix" | "description" | "category" | "version"> {
  readonly cacheTtlSeconds?: number;
  readonly tools: readonly Tool[];
  /** Undefined if it has none. */
  readonly resources?: readonly Resource[];
  readonly templates?: readonly JsonObject[];
  readonly prompts?: readonly Prompt[];
}

/** Node caches modules by URL, so the digest makes it read an edited file again. */
export async function importToolkits(
  file: string,
  digest: string,
): Promise<readonly ExportedToolkit[]> {
  const exported = await importFile(`${pathToFileURL(file).href}?${digest}`);
  const found = [...new Set(Object.values(exported))].filter(isToolkit);
  if (found.length > 0) return found;
  throw new HallError("EXECUTION", "no toolkit exported (export one created with toolkit(…))");
}

export function isToolkit(value: unknown): value is ExportedToolkit {
  if (typeof value !== "object" || value === null) return false;
  const { id, list, call } = value as Partial<Toolkit>;
  return typeof id === "string" && typeof list === "function" && typeof call === "function";
}
