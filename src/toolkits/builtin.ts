import type { Toolkit } from "../tool.ts";
import { createCalculatorToolkit } from "./calculator/calculator.ts";
import { createDocumentToolkit, type DocumentToolkitOptions } from "./document/document.ts";
import { createImageToolkit, type ImageToolkitOptions } from "./image/image.ts";
import { createSearchToolkit, type SearchToolkitOptions } from "./search/search.ts";
import { createTimeToolkit } from "./time/time.ts";

/** The config sections of the toolkits. */
interface BuiltinOptions {
  readonly images?: ImageToolkitOptions;
  readonly documents?: DocumentToolkitOptions;
  readonly search?: SearchToolkitOptions;
}

/** The built-in toolkits. To add one, add a folder beside this file and a line here. */
export function createBuiltinToolkits({
  images,
  documents,
  search,
}: BuiltinOptions = {}): readonly Toolkit[] {
  return [
    createTimeToolkit(),
    createCalculatorToolkit(),
    createImageToolkit(images),
    createDocumentToolkit(documents),
    createSearchToolkit(search),
  ];
}
