import { HallError } from "../base/errors.ts";
import type { Validators } from "./schema.ts";
import { getTarget, type Stage } from "./stage.ts";

/** Fills in the schema's defaults and refuses arguments that do not fit, naming every field. */
export const validateArguments =
  (validators: Validators): Stage =>
  (next) =>
  async (call, context) => {
    const { tool, fullName } = getTarget(call);
    const validator = validators.ready(tool.inputSchema) ?? (await validators.load(tool.inputSchema));
    const errors = validator(call.arguments);
    if (errors.length === 0) return next(call, context);
    const summary = errors.map(({ path, message }) => (path === "" ? message : `${path} ${message}`)).join("; ");
    throw new HallError("VALIDATION", `the arguments of ${fullName} do not fit: ${summary}`, { details: { errors } });
  };
