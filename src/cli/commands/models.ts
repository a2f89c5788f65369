import type { LanguageModelV3Prompt } from "@ai-sdk/provider";
import { openingFor } from "../../agents/planners.ts";
import { HallError } from "../../base/errors.ts";
import { loadSettings } from "../../hall/settings.ts";
import { print } from "../print.ts";

export interface ModelsOptions {
  readonly json?: boolean;
}

const testMsMax = 60_000;
const prompt: LanguageModelV3Prompt = [
  { role: "user", content: [{ type: "text", text: "Answer with the one word: ready" }] },
];

/** One tiny request to the model that plans for agents. */
export async function runModelsTest(
  model: string | undefined,
  { json }: ModelsOptions,
): Promise<void> {
  const { config, secrets } = await loadSettings({}, "error");
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
  const [{ openModel }, { takeTurn }, { explainModelError }] = await Promise.all([
    import("../../agents/model/provider.ts"),
    import("../../agents/model/turn.ts"),
    import("../../agents/model/turn.ts"),
  ]);
  const signal = AbortSignal.timeout(testMsMax);
  const startedAt = performance.now();
  try {
    const opened = await openModel({ ...opening, secrets });
    // No retries: a test should report the first refusal.
    const { content, usage } = await takeTurn(
      opened,
      { prompt, maxOutputTokens: 256 },
      { signal, remainingMs: () => 0 },
    );
    const ms = Math.round(performance.now() - startedAt);
    const said = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    const tokens = {
      input: usage.inputTokens.total ?? null,
      output: usage.outputTokens.total ?? null,
    };
    print(
      { model: opening.model, ok: true, ms, said, tokens },
      {
        json,
        text: () => `${opening.model} works: it answered "${said.trim().slice(0, 60)}" in ${ms} ms`,
      },
    );
  } catch (error) {
    if (signal.aborted)
      throw new HallError(
        "TIMEOUT",
        `${opening.model} did not answer within ${testMsMax / 1_000} s`,
        {
          hint: "Check the address, and that the model is loaded.",
        },
      );
    throw explainModelError(error, { model: opening.model, secrets });
  }
}
