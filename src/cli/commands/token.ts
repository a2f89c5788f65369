import type { Command } from "commander";
import { formatTime } from "../../base/text.ts";
import type { NamedTokens } from "../../server/http/tokens.ts";
import { asJson, examples, type JsonOption } from "../declaration.ts";
import { print, table } from "../print.ts";

export function addTokenCommands(program: Command): void {
  const token = program
    .command("token")
    .description("tokens for others who call your halls over HTTP")
    .addHelpText("after", examples(["guildhall token create ci", "guildhall token list"]));
  token
    .command("create <name>")
    .description("create a token and show it once")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall token create ci"]))
    .action(runTokenCreate);
  token
    .command("list")
    .description("list the names of the tokens")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall token list --json"]))
    .action(runTokenList);
  token
    .command("revoke <name>")
    .description("revoke a token; it is invalid from the next request on")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall token revoke ci"]))
    .action(runTokenRevoke);
}

async function openTokens(): Promise<NamedTokens> {
  return (await import("../../server/http/tokens.ts")).openNamedTokens();
}

async function runTokenCreate(name: string, { json }: JsonOption): Promise<void> {
  const token = await (await openTokens()).create(name);
  const text = `${token}\n\nThis token is shown only once. Send it as \`Authorization: Bearer TOKEN\`; calls are recorded under the name ${name}.`;
  print({ name, token }, { json, text: () => text });
}

async function runTokenList({ json }: JsonOption): Promise<void> {
  const tokens = (await openTokens()).list();
  const rows = tokens.map(({ name, createdAt }) => [name, formatTime(createdAt)]);
  print(tokens, {
    json,
    text: () => (rows.length > 0 ? table(["name", "created"], rows) : "no named tokens"),
  });
}

async function runTokenRevoke(name: string, { json }: JsonOption): Promise<void> {
  await (await openTokens()).revoke(name);
  print({ name, revoked: true }, { json, text: () => `the token ${name} is revoked` });
}
