import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

/** Whether a person's browser asks: programs that take anything do not say so. */
export function wantsPage({ method, headers }: IncomingMessage): boolean {
  return (
    (method === "GET" || method === "HEAD") && /(^|,)\s*text\/html\b/i.test(headers.accept ?? "")
  );
}

/** What a person sees who opens the hall in a browser: what it is and how to connect to it. It runs nothing, loads nothing, and tells no secret. */
export function sendPage(response: ServerResponse, version: string): void {
  // The address the browser has used, which the guard has let through.
  const endpoint = `http://${response.req.headers.host}/mcp`;
  response.writeHead(200, headers).end(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Guildhall</title>
<style>${style}</style>
<h1>Guildhall ${escapeText(version)}</h1>
<p>One hall for all your MCP servers. This address is for MCP clients; it has no screens. The endpoint is</p>
<pre>${escapeText(endpoint)}</pre>
<p>Connect a client to it:</p>
<dl>
${connections(endpoint)
  .map(([client, line]) => `<dt>${client}</dt><dd><pre>${escapeText(line)}</pre></dd>`)
  .join("\n")}
</dl>
<p>In the project's folder, <code>guildhall tui</code> is the screen for people, and <code>guildhall status</code> says what runs.
WebSocket is at <code>/ws</code>, HTTP+SSE at <code>/sse</code>, health at <a href="/health">/health</a>.</p>
</html>
`);
}

function connections(url: string): readonly (readonly [client: string, line: string])[] {
  return [
    ["Claude Code", `claude mcp add --transport http guildhall ${url}`],
    ["Cursor, in ~/.cursor/mcp.json", JSON.stringify({ mcpServers: { guildhall: { url } } })],
    ["VS Code", `code --add-mcp '${JSON.stringify({ name: "guildhall", type: "http", url })}'`],
    ["Codex", `codex mcp add guildhall --url ${url}`],
  ];
}

const style = `
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
pre { overflow-x: auto; padding: .5rem .75rem; border: 1px solid; border-radius: .25rem; }
dd { margin: 0 0 1rem; }
`;

const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  vary: "accept",
} as const;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
