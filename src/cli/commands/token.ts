import { formatTime } from "../../base/text.ts";
import { type NamedTokens, openNamedTokens } from "../../server/http/tokens.ts";
import { print, table } from "../print.ts";

export interface TokenOptions {
  readonly json?: boolean;
}

/** Makes a token for somebody else. It is shown once: only its hash is kept. */
export async function runTokenCreate(name: string, options: TokenOptions): Promise<void> {
  const tokens: NamedTokens = openNamedTokens();
  const token = await tokens.create(name);
  print(
    { name, token },
    {
      json: options.json,
      text: () =>
        `${token}\n\nThis is ${name}'s token, shown this once. It is sent as \`Authorization: Bearer TOKEN\`; calls are recorded under the name ${name}.`,
    },
  );
}

export async function runTokenList(options: TokenOptions): Promise<void> {
  const tokens = openNamedTokens().list();
  const rows = tokens.map(({ name, createdAt }) => [name, formatTime(createdAt)]);
  print(tokens, {
    json: options.json,
    text: () => (rows.length > 0 ? table(["name", "made"], rows) : "there are no named tokens"),
  });
}

/** From the next request on it opens nothing. */
export async function runTokenRevoke(name: string, options: TokenOptions): Promise<void> {
  await openNamedTokens().revoke(name);
  print(
    { name, revoked: true },
    { json: options.json, text: () => `${name}'s token opens nothing any more` },
  );
}
