import { visible } from "../../base/text.ts";
import { readToolTrust } from "../../hall/project-trust.ts";
import { loadSettings } from "../../hall/settings.ts";
import { compareTool, type FieldChange, goneTools } from "../../trust/review.ts";
import { describeSource, sourceOf } from "../../upstream/source.ts";
import { describeFields } from "../definition.ts";
import { paint, print } from "../print.ts";
import { getServer } from "../servers.ts";
import { openProjectLedger } from "./review.ts";

export interface DiffOptions {
  readonly json?: boolean;
}

interface ServerDiff {
  readonly name: string;
  readonly reached?: { readonly before: string; readonly now: string };
  readonly changed: readonly { readonly name: string; readonly fields: readonly FieldChange[] }[];
  readonly added: readonly string[];
  readonly gone: readonly string[];
}

/** What the servers are now against what was reviewed, as far as the hall or the lock knows. */
export async function runDiff(server: string | undefined, options: DiffOptions): Promise<void> {
  const settings = await loadSettings({}, "error");
  const { mcpServers } = settings.config;
  if (server !== undefined) getServer(server, settings.loaded);
  const { servers } = await (await openProjectLedger(settings)).read();
  const known = await readToolTrust();
  const diffs = Object.entries(mcpServers)
    .filter(([name]) => server === undefined || name === server)
    .map(([name, config]): ServerDiff => {
      const review = Object.hasOwn(servers, name) ? servers[name] : undefined;
      const tools = known
        .filter(({ toolkit, source }) => toolkit === name && source === "upstream")
        .map(({ definition }) => definition);
      const changes = tools.map((tool) => ({ name: tool.name, change: compareTool(tool, review) }));
      const now = settings.secrets.scrub(describeSource(config));
      return {
        name,
        ...(review && review.source !== sourceOf(config)
          ? { reached: { before: review.reached, now } }
          : {}),
        changed: changes.flatMap(({ name, change }) =>
          change.kind === "changed" ? [{ name, fields: change.fields }] : [],
        ),
        added: changes.filter(({ change }) => change.kind === "new").map(({ name }) => name),
        gone: tools.length > 0 ? goneTools(tools, review) : [],
      };
    });
  print(diffs, { json: options.json, text: () => describeAll(diffs) });
}

function describeAll(diffs: readonly ServerDiff[]): string {
  const shown = diffs
    .filter(
      ({ reached, changed, added, gone }) =>
        reached !== undefined || changed.length + added.length + gone.length > 0,
    )
    .map(describe);
  return shown.length > 0
    ? `${shown.join("\n\n")}\n\n\`guildhall verify\` lets it through.`
    : "nothing has changed since it was reviewed, as far as is known";
}

function describe({ name, reached, changed, added, gone }: ServerDiff): string {
  return [
    paint("bold", name),
    ...(reached
      ? [
          paint("red", `  - reached by ${visible(reached.before)}`),
          paint("green", `  + reached by ${visible(reached.now)}`),
        ]
      : []),
    ...changed.map(
      (tool) =>
        `  ${paint("yellow", `${visible(tool.name)} has changed`)}\n${describeFields(tool.fields)}`,
    ),
    ...(added.length > 0 ? [`  new: ${added.map(visible).join(", ")}`] : []),
    ...(gone.length > 0 ? [`  no longer there: ${gone.map(visible).join(", ")}`] : []),
  ].join("\n");
}
