import { HallError } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";
import { camelName, lispName } from "../../toolkits/programs/names.ts";
import type { Language } from "../../toolkits/programs/protocol.ts";
import { readableTool } from "../../trust/trust.ts";
import { type SavedFilePlace, saveProgram } from "../project-texts.ts";
import { type Area, deciderOf, type PageParts } from "./area.ts";

/** The functions of programs, and saving one as a tool. Programs run as calls of an evaluator. */
export interface ProgramMethods {
  functions: {
    params: Record<string, never>;
    result: {
      readonly functions: readonly ToolFunction[];
      /** The languages that the config offers, the first one first. */
      readonly languages: readonly Language[];
    };
  };
  /** Throws CONFLICT. */
  saveProgram: {
    params: {
      readonly name: string;
      /** `lisp` or `js`. */
      readonly language: string;
      readonly code: string;
      readonly description?: string;
      /** The program may change things. */
      readonly act?: boolean;
    };
    /** It is listed once a person approves it. */
    result: SavedFilePlace;
  };
}

export interface ToolFunction {
  /** As in a program: `github:list-issues`. */
  readonly name: string;
  /** In JavaScript: `tools.github.listIssues`. */
  readonly jsName: string;
  readonly tool: string;
  readonly description: string;
  /** In the order of their author; required ones first would hide it. */
  readonly parameters: readonly {
    /** As the tool has it; in Lisp it is written with hyphens. */
    readonly key: string;
    readonly name: string;
    readonly isRequired: boolean;
  }[];
}

const descriptionMax = 200;

export function programArea({ hall, folder, settings }: PageParts): Area<ProgramMethods> {
  return {
    functions: {
      scope: "read",
      run: async () => ({
        languages: (await settings()).config.code,
        functions: hall.registry.tools().map((target) => {
          const { description = "", inputSchema } = readableTool(target, hall.trust);
          const { toolkit, tool, fullName } = target;
          const { properties, required } = inputSchema;
          const needed = Array.isArray(required) ? required : [];
          return {
            name: `${lispName(toolkit.prefix ?? toolkit.id)}:${lispName(tool.name)}`,
            jsName: `tools.${camelName(toolkit.prefix ?? toolkit.id)}.${camelName(tool.name)}`,
            tool: fullName,
            description: description.slice(0, descriptionMax),
            parameters: Object.keys(isObject(properties) ? properties : {}).map((name) => ({
              key: name,
              name: lispName(name),
              isRequired: needed.includes(name),
            })),
          };
        }),
      }),
    },
    saveProgram: {
      scope: "admin",
      fields: {
        name: "string",
        language: "string",
        code: "string",
        description: "string?",
        act: "boolean?",
      },
      async run({ name, language, code, description, act }, caller) {
        if (language !== "lisp" && language !== "js")
          throw new HallError("INVALID_PARAMS", `unknown language "${language}" (lisp or js)`);
        const mode = act ? "act" : "explore";
        const saved = await saveProgram(folder, { name, language, code, description, mode });
        const reason = `saved as ${saved.file} in the page`;
        await hall.note({
          kind: "changed",
          subject: saved.tool,
          caller: deciderOf(caller),
          reason,
        });
        return saved;
      },
    },
  };
}
