import { HallError } from "../base/errors.ts";

/**
 * What a hall says of approvals holds while it runs. One that ends with the command leaves nobody who could take the
 * approval: then only a lasting word helps, or a person at a terminal, or a hall that stays.
 */
export function adviseApproval(error: HallError): HallError {
  if (error.code !== "APPROVAL_NEEDED") return error;
  const [, lasting] = lastingPattern.exec(error.hint) ?? [];
  const first =
    lasting === undefined
      ? "Run it at a terminal to be asked"
      : `Run it at a terminal to be asked, or \`${lasting}\` first`;
  return new HallError(error.code, error.message, {
    hint: `${first}; with \`guildhall serve\` running, \`guildhall approve\` works too.`,
  });
}

const lastingPattern = /or `(guildhall (?:trust|verify) [^`]+)`/;

/** The same in the text of an answer, for calls that were made inside it: those ask nobody. */
export function rewordApprovals(text: string): string {
  return text
    .replace(
      /A person runs `guildhall approve \w+` within \d+ s(?:, or (`[^`]+`))?; then the same call goes through\./g,
      (_found, lasting?: string) =>
        lasting === undefined ? staying : `Run ${lasting} first; ${staying}`,
    )
    .replace(
      /(allow it) within \d+ s:(\n(?:- .*(?:\n|$))+)/g,
      (_found, head: string, lines: string) => `${head} first; ${staying}:${lines}`,
    )
    .replace(
      /: a person runs `guildhall approve \w+`(?:, or (`[^`]+`))?/g,
      (_found, lasting?: string) => (lasting === undefined ? "" : `: ${lasting}`),
    )
    .replace(/^; once approved, go on with code "" and resume .*\n?/gm, "");
}

const staying = "with `guildhall serve` running, `guildhall approve` works too";
