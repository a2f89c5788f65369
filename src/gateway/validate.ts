import { HallError } from "../base/errors.ts";
import type { Call, Outcome, Target } from "../tool.ts";
import type { Validator, Validators } from "./schema.ts";
import { getTarget, type Stage } from "./stage.ts";

/** Fills in the schema's defaults and rejects invalid arguments, naming every field. */
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
    `invalid arguments for ${getTarget(call).fullName}: ${summary}`,
    { details: { errors } },
  );
}

/** Rejects results that break the protocol or the tool's own output schema. */
export const checkResult =
  (validators: Validators): Stage =>
  (next) =>
  (call, context) =>
    next(call, context).then((outcome) => {
      const target = getTarget(call);
      if (!Array.isArray(outcome?.content))
        throw new HallError("BAD_ANSWER", `${target.fullName} returned a result without "content"`);
      return target.tool.outputSchema && !outcome.isError
        ? checkStructure(outcome, target, validators)
        : outcome;
    });

async function checkStructure(
  outcome: Outcome,
  { tool, fullName }: Target,
  validators: Validators,
): Promise<Outcome> {
  const { structuredContent } = outcome;
  if (!tool.outputSchema) return outcome;
  if (structuredContent === undefined)
    throw new HallError(
      "BAD_ANSWER",
      `${fullName} has an output schema but returned no structured content`,
    );
  const validator =
    validators.ready(tool.outputSchema) ?? (await validators.load(tool.outputSchema));
  const errors = validator(structuredContent);
  if (errors.length > 0)
    throw new HallError(
      "BAD_ANSWER",
      `the result of ${fullName} does not match its output schema`,
      {
        details: { errors },
      },
    );
  return outcome;
}
