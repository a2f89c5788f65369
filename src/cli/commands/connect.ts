import { basename } from "node:path";

/** The exact lines that connect common clients to this hall, over HTTP and over stdio. */
export function connectLines(url: string): string {
  const endpoint = `${url}/mcp`;
  const [command, ...args] = ownCommand();
  const stdio = [command, ...args].join(" ");
  const json = (value: unknown): string => JSON.stringify(value);
  return `Connect over HTTP:
  Claude Code   claude mcp add --transport http guildhall ${endpoint}
  Cursor        add to ~/.cursor/mcp.json: ${json({ mcpServers: { guildhall: { url: endpoint } } })}
  VS Code       code --add-mcp '${json({ name: "guildhall", type: "http", url: endpoint })}'
  Codex         codex mcp add guildhall --url ${endpoint}

Connect over stdio (the client starts it, nothing has to run):
  Claude Code   claude mcp add guildhall -- ${stdio}
  Cursor        add to ~/.cursor/mcp.json: ${json({ mcpServers: { guildhall: { command, args } } })}
  VS Code       code --add-mcp '${json({ name: "guildhall", command, args })}'
  Codex         codex mcp add guildhall -- ${stdio}
`;
}

/** How this program is started again: by its name where it is installed, by its file in a clone. */
export function ownCommand(): readonly [string, ...string[]] {
  const script = process.argv[1] ?? "guildhall";
  // What npx put into its cache is not there for long.
  if (/[\\/]_npx[\\/]/.test(script)) return ["npx", "-y", "guildhall", "mcp"];
  return basename(script) === "guildhall" ? ["guildhall", "mcp"] : ["node", script, "mcp"];
}
