import { isObject } from "../../base/json.ts";
import { lispName } from "../../toolkits/programs/names.ts";
import { readableTool } from "../../trust/trust.ts";
import type { Area, PageParts } from "./area.ts";

/** The functions of programs. Programs themselves run as calls of `evaluate-lisp`. */
export interface ProgramMethods {
  functions: {
    params: Record<string, never>;
    result: { readonly functions: readonly ToolFunction[] };
  };
}

export interface ToolFunction {
  /** As in a program: `github:list-issues`. */
  readonly name: string;
  readonly tool: string;
  readonly description: string;
  /** In the order of their author; required ones first would hide it. */
  readonly parameters: readonly { readonly name: string; readonly isRequired: boolean }[];
}

const descriptionMax = 200;

export function programArea({ hall }: PageParts): Area<ProgramMethods> {
  return {
    functions: {
      scope: "read",
      run: async () => ({
        functions: hall.registry.tools().map((target) => {
          const { description = "", inputSchema } = readableTool(target, hall.trust);
          const { toolkit, tool, fullName } = target;
          const { properties, required } = inputSchema;
          const needed = Array.isArray(required) ? required : [];
          return {
            name: `${lispName(toolkit.prefix ?? toolkit.id)}:${lispName(tool.name)}`,
            tool: fullName,
            description: description.slice(0, descriptionMax),
            parameters: Object.keys(isObject(properties) ? properties : {}).map((name) => ({
              name: lispName(name),
              isRequired: needed.includes(name),
            })),
          };
        }),
      }),
    },
  };
}
