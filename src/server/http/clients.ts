/** How to connect a client: a line for the shell, or what to write into its file. */
export type ClientLine = readonly [client: string, line: string];

/** Common clients over HTTP. A token is read by command, so that no line shows it. */
export function httpClients(url: string, needsToken: boolean): readonly ClientLine[] {
  return needsToken ? withToken(url) : withoutToken(url);
}

function withoutToken(url: string): readonly ClientLine[] {
  return [
    ["Claude Code", `claude mcp add --transport http guildhall ${url}`],
    [cursorFile, JSON.stringify({ mcpServers: { guildhall: { url } } })],
    ["VS Code", `code --add-mcp '${JSON.stringify({ name: "guildhall", type: "http", url })}'`],
    ["Codex", `codex mcp add guildhall --url ${url}`],
  ];
}

function withToken(url: string): readonly ClientLine[] {
  const bearer = (token: string): object => ({ Authorization: `Bearer ${token}` });
  const ofVsCode = { name: "guildhall", type: "http", url, headers: bearer(`'"${show}"'`) };
  const ofCursor = { url, headers: bearer(`\${env:GUILDHALL_TOKEN}`) };
  return [
    ["Token for Cursor and Codex", `export GUILDHALL_TOKEN="${show}"`],
    [
      "Claude Code",
      `claude mcp add --transport http guildhall ${url} --header "Authorization: Bearer ${show}"`,
    ],
    [cursorFile, JSON.stringify({ mcpServers: { guildhall: ofCursor } })],
    ["VS Code", `code --add-mcp '${JSON.stringify(ofVsCode).replaceAll('\\"', '"')}'`],
    ["Codex", `codex mcp add guildhall --url ${url} --bearer-token-env-var GUILDHALL_TOKEN`],
  ];
}

export const cursorFile = "Cursor, in ~/.cursor/mcp.json";
const show = "$(guildhall token show)";
