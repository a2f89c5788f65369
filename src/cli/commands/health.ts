import { HallError } from "../../base/errors.ts";
import { checkHealth, type ToolkitHealth } from "../../hall/health.ts";
import type { JsonOption } from "../declaration.ts";
import { withHall } from "../hall.ts";
import { print, table } from "../print.ts";

export async function runHealth(name: string | undefined, options: JsonOption): Promise<void> {
  await withHall(async (client, settings) => {
    const report = await checkHealth(client, settings, name);
    const { toolkits } = report;
    // A built-in toolkit that is not set up is only a failure if it was asked for by name.
    const failing = toolkits.filter(
      ({ state }) => state === "unavailable" || (state === "not set up" && name !== undefined),
    );
    const failure = failing.length === 0 ? undefined : failureOf(failing, toolkits.length);
    const value = name === undefined ? report : toolkits[0];
    print(value, formatHealth(toolkits), { ...options, failure });
  });
}

function formatHealth(toolkits: readonly ToolkitHealth[]): string {
  const isAvailable = ({ state }: ToolkitHealth): boolean => state === "available";
  const rows = [...toolkits]
    .sort((a, b) => Number(isAvailable(a)) - Number(isAvailable(b)))
    .map(({ toolkit, source, state, reason = "", responseMs }) => [
      toolkit,
      source,
      state === "unavailable" ? { text: state, style: "red" as const } : state,
      responseMs === undefined ? "" : `${responseMs} ms`,
      reason,
    ]);
  return table(["toolkit", "source", "health", "response", "reason"], rows, {
    extra: ["response", "source"],
  });
}

function failureOf(failing: readonly ToolkitHealth[], total: number): HallError {
  const names = failing.map(({ toolkit }) => toolkit).join(", ");
  const message =
    total === 1
      ? `${names} is unavailable`
      : `${failing.length} of ${total} toolkits are unavailable: ${names}`;
  return new HallError("UNAVAILABLE", message, {
    next: [{ do: "run-command", command: "doctor" }],
  });
}
