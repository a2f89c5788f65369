import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { httpClients } from "./clients.ts";

/** True for a browser; programs do not ask for text/html. */
export function wantsPage({ method, headers }: IncomingMessage): boolean {
  return (
    (method === "GET" || method === "HEAD") && /(^|,)\s*text\/html\b/i.test(headers.accept ?? "")
  );
}

/** A page for browsers that explains how to connect. It has no scripts, loads nothing and shows no secret. */
export function sendPage(response: ServerResponse, version: string, needsToken: boolean): void {
  // The guard has checked this header.
  const endpoint = `http://${response.req.headers.host}/mcp`;
  response.writeHead(200, headers).end(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Guildhall</title>
<style>${style}</style>
<h1>Guildhall ${escapeText(version)}</h1>
<p>One MCP gateway for all your servers. This address is for MCP clients. The endpoint is</p>
<pre>${escapeText(endpoint)}</pre>
<p>To connect a client:</p>
<dl>
${httpClients(endpoint, needsToken)
  .map(([client, line]) => `<dt>${client}</dt><dd><pre>${escapeText(line)}</pre></dd>`)
  .join("\n")}
</dl>
<p>In the project's folder, <code>guildhall tui</code> opens the terminal client and <code>guildhall status</code> shows
the servers. WebSocket is at <code>/ws</code>, HTTP+SSE at <code>/sse</code>, health at <a href="/health">/health</a>.</p>
</html>
`);
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
