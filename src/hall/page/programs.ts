import { HallError } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";
import { camelName, lispName } from "../../toolkits/programs/names.ts";
import { readableTool } from "../../trust/trust.ts";
import { saveProgram } from "../project-texts.ts";
import { deciderOf, method, type PageParts } from "./area.ts";

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

/** `act`: the program may change things. */
const programFields = {
  name: "string",
  language: "string",
  code: "string",
  description: "string?",
  act: "boolean?",
} as const;

/** The functions of programs, and saving one as a tool. Programs run as calls of an evaluator. */
export function programArea({ hall, folder, settings }: PageParts) {
  return {
    /** The languages are those that the config offers, the first one first. */
    functions: method("read", {}, async () => ({
      languages: (await settings()).config.code,
      functions: hall.registry.tools().map((target): ToolFunction => {
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
    })),
    /** The tool is listed once a person approves it. Throws CONFLICT. */
    saveProgram: method("admin", programFields, async ({ language, act, ...program }, caller) => {
      if (language !== "lisp" && language !== "js")
        throw new HallError(
          "INVALID_PARAMS",
          `unknown language "${language}" (expected: lisp, js)`,
        );
      const mode = act ? "act" : "explore";
      const saved = await saveProgram(folder, { ...program, language, mode });
      const [subject, reason] = [saved.tool, `saved as ${saved.file} in the page`];
      await hall.note({ kind: "changed", subject, caller: deciderOf(caller), reason });
      return saved;
    }),
  };
}
