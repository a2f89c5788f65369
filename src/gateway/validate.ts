import { HallError } from "../base/errors.ts";
import type { Call } from "../tool.ts";
import type { Validator, Validators } from "./schema.ts";
import { getTarget, type Stage } from "./stage.ts";

/** Fills in the schema's defaults and refuses arguments that do not fit, naming every field. */
export const validateArguments =
  (validators: Validators): Stage =>
  (next) =>
  (call, context) => {
    const { inputSchema } = getTarget(call).tool;
    const validator = validators.ready(inputSchema);
    if (!validator)
      return validators.load(inputSchema).then((loaded) => next(check(call, loaded), context));
    return next(check(call, validator), context);
  };

function check(call: Call, validator: Validator): Call {
  const errors = validator(call.arguments);
  if (errors.length === 0) return call;
  const summary = errors
    .map(({ path, message }) => (path === "" ? message : `${path} ${message}`))
    .join("; ");
  throw new HallError(
    "VALIDATION",
    `the arguments of ${getTarget(call).fullName} do not fit: ${summary}`,
    { details: { errors } },
  );
}
