import { HallError } from "../base/errors.ts";
import type { Outcome, Target } from "../tool.ts";
import type { Validators } from "./schema.ts";
import { getTarget, type Stage } from "./stage.ts";

/** Refuses answers that are not what the tool promised, so that no client has to find out. */
export const checkResult =
  (validators: Validators): Stage =>
  (next) =>
  (call, context) =>
    next(call, context).then((outcome) => {
      const target = getTarget(call);
      if (!Array.isArray(outcome?.content))
        throw new HallError("BAD_ANSWER", `${target.fullName} answered without content`);
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
    throw new HallError("BAD_ANSWER", `${fullName} promises structured content and sent none`);
  const validator =
    validators.ready(tool.outputSchema) ?? (await validators.load(tool.outputSchema));
  const errors = validator(structuredContent);
  if (errors.length > 0)
    throw new HallError("BAD_ANSWER", `the answer of ${fullName} does not fit its own schema`, {
      details: { errors },
    });
  return outcome;
}
