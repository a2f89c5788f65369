import type { Toolkit } from "../tool.ts";
import { createCalculatorToolkit } from "./calculator/calculator.ts";
import { createDocumentToolkit, type DocumentToolkitOptions } from "./document/document.ts";
import { createImageToolkit, type ImageToolkitOptions } from "./image/image.ts";
import { createSearchToolkit, type SearchToolkitOptions } from "./search/search.ts";
import { createTimeToolkit } from "./time/time.ts";

/** What the config says about them, section by section. */
interface BuiltinOptions {
  readonly images?: ImageToolkitOptions;
  readonly documents?: DocumentToolkitOptions;
  readonly search?: SearchToolkitOptions;
}

/** The toolkits every hall has. To add one: a file beside this one, and a line here. */
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
