import { formatTime } from "../../base/text.ts";
import { readToken } from "../../hall/serve.ts";
import { loadSettings, type SettingsOptions } from "../../hall/settings.ts";
import { openNamedTokens } from "../../server/http/tokens.ts";
import type { JsonOption } from "../declaration.ts";
import { print, table } from "../print.ts";

interface CreateOptions extends JsonOption {
  readonly scope?: readonly string[];
  readonly tools?: readonly string[];
  readonly until?: number;
}

export async function runTokenCreate(name: string, options: CreateOptions): Promise<void> {
  const { scope, tools, until } = options;
  const token = await openNamedTokens().create(name, { scopes: scope, tools, expiresAt: until });
  const text = `${token}\n\nThis token is shown only once. Send it as \`Authorization: Bearer TOKEN\`; calls are recorded under the name ${name}.`;
  print({ name, token }, text, options);
}

/** The user's own token, or the one that the config names. */
export async function runTokenShow(options: SettingsOptions): Promise<void> {
  const { config } = await loadSettings(options, "warn");
  const token = await readToken(config);
  print({ token }, token, options);
}

export async function runTokenList(options: JsonOption): Promise<void> {
  const tokens = openNamedTokens().list();
  const rows = tokens.map(({ name, createdAt, scopes, tools, expiresAt }) => [
    name,
    scopes.join(", "),
    tools?.join(", ") ?? "all",
    expiresAt === undefined ? "" : formatTime(expiresAt),
    formatTime(createdAt),
  ]);
  const head = ["name", "scopes", "tools", "expires", "created"];
  print(tokens, table(head, rows, { empty: "no named tokens", extra: ["created"] }), options);
}

export async function runTokenRevoke(name: string, options: JsonOption): Promise<void> {
  await openNamedTokens().revoke(name);
  print({ name, revoked: true }, `the token ${name} is revoked`, options);
}
