import { plural } from "../../base/text.ts";
import { editServer } from "../../hall/config-edit.ts";
import { type ListedServer, listServers } from "../../hall/server-list.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { type Cell, paint, print, table, wrapProse } from "../print.ts";

/** Lists the configured servers without starting one. */
export async function runList(options: JsonOption): Promise<void> {
  const servers = await listServers(await loadProject());
  print(servers, wrapProse(formatServers(servers)), options);
}

export async function runRemove(name: string, options: JsonOption): Promise<void> {
  const { file } = await editServer(process.cwd(), name, () => undefined);
  print({ server: name, removed: true, file }, `removed ${name} from ${file}`, options);
}

export async function runEnable(name: string, options: JsonOption): Promise<void> {
  const { file, isChanged } = await editServer(
    process.cwd(),
    name,
    ({ disabled: _off, ...entry }) => entry,
  );
  const text = isChanged ? `enabled ${name} in ${file}` : `${name} is enabled already`;
  print({ server: name, disabled: false, changed: isChanged, file }, text, options);
}

export async function runDisable(name: string, options: JsonOption): Promise<void> {
  const { file, isChanged } = await editServer(process.cwd(), name, (entry) => ({
    ...entry,
    disabled: true,
  }));
  const text = isChanged
    ? `disabled ${name} in ${file}; to use it again: \`guildhall enable ${name}\``
    : `${name} is disabled already`;
  print({ server: name, disabled: true, changed: isChanged, file }, text, options);
}

function formatServers(servers: readonly ListedServer[]): string {
  const rows = servers.map(({ name, state, tools, disabledTools, target, reason }) => [
    name,
    formatState(state),
    formatTools(tools, disabledTools),
    reason === undefined || target !== "" ? target : reason,
  ]);
  const named = (wanted: ListedServer["state"]): readonly string[] =>
    servers.filter(({ state }) => state === wanted).map(({ name }) => name);
  const held = named("held");
  const unusable = named("unusable");
  return [
    table(["server", "state", "tools", "runs"], rows, {
      empty: "no servers are configured: run `guildhall init`, or `guildhall add`",
    }),
    ...(held.length > 0
      ? ["", `${plural(held.length, "server")} held until reviewed; run \`guildhall verify\``]
      : []),
    ...(unusable.length > 0
      ? [paint("red", `${unusable.join(", ")} cannot be used; run \`guildhall doctor\` for advice`)]
      : []),
  ].join("\n");
}

function formatState(state: ListedServer["state"]): Cell {
  const styles = { enabled: undefined, disabled: "dim", held: "yellow", unusable: "red" } as const;
  const style = styles[state];
  return style ? { text: state, style } : state;
}

function formatTools(
  tools: ListedServer["tools"],
  disabled: ListedServer["disabledTools"],
): string {
  if (!tools) return "unknown";
  return disabled.length > 0
    ? `${tools.length} of ${tools.length + disabled.length}`
    : String(tools.length);
}
