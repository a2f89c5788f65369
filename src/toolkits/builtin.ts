import type { Toolkit } from "../tool.ts";
import { createCalculatorToolkit } from "./calculator.ts";
import { createTimeToolkit } from "./time.ts";

/** The toolkits every hall has. To add one: a file beside this one, and a line here. */
export function createBuiltinToolkits(): readonly Toolkit[] {
  return [createTimeToolkit(), createCalculatorToolkit()];
}
