import type { Command } from "commander";
import { formatTime } from "../../base/text.ts";
import type { NamedTokens } from "../../server/http/tokens.ts";
import { addCommand, type JsonOption } from "../declaration.ts";
import { print, table } from "../print.ts";

export function addTokenCommands(program: Command): void {
  const token = addCommand(program, "token", {
    does: "tokens for others who call your halls over HTTP",
    examples: ["guildhall token create ci", "guildhall token list"],
  });
  addCommand(token, "create <name>", {
    does: "create a token and show it once",
    examples: ["guildhall token create ci"],
    run: runTokenCreate,
  });
  addCommand(token, "list", {
    does: "list the names of the tokens",
    examples: ["guildhall token list --json"],
    run: runTokenList,
  });
  addCommand(token, "revoke <name>", {
    does: "revoke a token; it is invalid from the next request on",
    examples: ["guildhall token revoke ci"],
    run: runTokenRevoke,
  });
}

async function openTokens(): Promise<NamedTokens> {
  return (await import("../../server/http/tokens.ts")).openNamedTokens();
}

async function runTokenCreate(name: string, options: JsonOption): Promise<void> {
  const token = await (await openTokens()).create(name);
  const text = `${token}\n\nThis token is shown only once. Send it as \`Authorization: Bearer TOKEN\`; calls are recorded under the name ${name}.`;
  print({ name, token }, text, options);
}

async function runTokenList(options: JsonOption): Promise<void> {
  const tokens = (await openTokens()).list();
  const rows = tokens.map(({ name, createdAt }) => [name, formatTime(createdAt)]);
  print(tokens, table(["name", "created"], rows, "no named tokens"), options);
}

async function runTokenRevoke(name: string, options: JsonOption): Promise<void> {
  await (await openTokens()).revoke(name);
  print({ name, revoked: true }, `the token ${name} is revoked`, options);
}
