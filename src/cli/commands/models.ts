import type { LanguageModelV3Prompt } from "@ai-sdk/provider";
import { openingFor } from "../../agents/planners.ts";
import { HallError } from "../../base/errors.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { createWaiting } from "../live.ts";
import { print } from "../print.ts";

const testSeconds = 60;
const prompt: LanguageModelV3Prompt = [
  { role: "user", content: [{ type: "text", text: "Answer with the one word: ready" }] },
];

/** One tiny request to the model that plans for agents. */
export async function runModelsTest(model: string | undefined, options: JsonOption): Promise<void> {
  const { config, secrets } = await loadProject();
  const opening = openingFor(model, config.planner, process.env);
  if (!opening) {
    throw new HallError("NOT_FOUND", "no model is configured", {
      hint: "Agents plan without a model until one is set.",
      next: [
        { do: "run-command", command: "models test anthropic/NAME" },
        { do: "edit-config", field: "planner.model" },
      ],
    });
  }
  const [{ openModel }, { explainModelError, takeTurn }] = await Promise.all([
    import("../../agents/model/provider.ts"),
    import("../../agents/model/turn.ts"),
  ]);
  const signal = AbortSignal.timeout(testSeconds * 1_000);
  const startedAt = performance.now();
  try {
    const opened = await openModel({ ...opening, secrets });
    // No retries: a test should report the first refusal.
    const { content, usage } = await createWaiting().during(
      `waiting for ${opening.model}`,
      takeTurn(opened, { prompt, maxOutputTokens: 256 }, { signal, remainingMs: () => 0 }),
    );
    const ms = Math.round(performance.now() - startedAt);
    const said = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    const tokens = {
      input: usage.inputTokens.total ?? null,
      output: usage.outputTokens.total ?? null,
    };
    const text = `${opening.model} works: it answered "${said.trim().slice(0, 60)}" in ${ms} ms`;
    print({ model: opening.model, ok: true, ms, said, tokens }, text, options);
  } catch (error) {
    if (signal.aborted)
      throw new HallError("TIMEOUT", `${opening.model} did not answer within ${testSeconds} s`, {
        hint: "Check the address, and that the model is loaded.",
      });
    throw explainModelError(error, { model: opening.model, secrets });
  }
}
