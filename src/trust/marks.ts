import { isObject } from "../base/json.ts";
import type { Tool } from "../tool.ts";

/**
 * What a tool probably does, judged by its name and annotations before anyone reviewed it: it is
 * destructive, it brings in untrusted content, it sends data out. One table, read from top to bottom;
 * each rule names an example. Names are split into whole words (`deleteRepo`, `delete_repo` and
 * `delete-repo` are the same), so `undelete` does not match "delete" nor `breadcrumbs` "read".
 */
export type Mark = "destructive" | "bringsIn" | "sendsOut";

interface Rule {
  readonly mark: Mark;
  readonly words: ReadonlySet<string>;
  /** The word may also be a noun: ignore it after one of these verbs (`get_order`, `send_email`). */
  readonly notAfter?: ReadonlySet<string>;
  readonly example: string;
}

const reading = set(
  "get list read search find fetch show describe count check query view lookup inspect preview explain",
  "status is has diff compare summarize",
);
const doing = set(
  "send create add open new make write edit update delete remove post publish reply submit close set",
  "merge push mark move",
);

export const rules: readonly Rule[] = [
  {
    mark: "destructive",
    words: set("delete del remove drop destroy erase purge wipe truncate unlink"),
    example: "delete_branch",
  },
  {
    mark: "destructive",
    words: set("overwrite replace reset revert rollback revoke disable uninstall"),
    example: "reset_password",
  },
  {
    mark: "destructive",
    words: set("execute exec eval sudo kill terminate shutdown reboot"),
    example: "execute_command",
  },
  {
    mark: "destructive",
    words: set("write edit append insert upsert rename move"),
    example: "write_file",
  },
  {
    mark: "destructive",
    words: set("merge push rebase deploy publish install grant"),
    example: "merge_pull_request",
  },
  {
    mark: "destructive",
    words: set("send pay buy purchase refund transfer"),
    example: "send_email",
  },
  {
    mark: "destructive",
    words: set("update patch set put modify change clear format"),
    notAfter: reading,
    example: "update_record",
  },
  {
    mark: "destructive",
    words: set("post order charge release run script shell restart tweet"),
    notAfter: reading,
    example: "run_script",
  },
  {
    mark: "bringsIn",
    words: set("fetch browse scrape crawl download navigate url web page html rss feed"),
    example: "fetch_url",
  },
  {
    mark: "bringsIn",
    words: set("mail email emails inbox message messages chat thread threads"),
    notAfter: doing,
    example: "read_inbox",
  },
  {
    mark: "bringsIn",
    words: set("issue issues comment comments review reviews pull ticket tickets news"),
    notAfter: doing,
    example: "get_issue",
  },
  {
    mark: "sendsOut",
    words: set("send post publish tweet upload share notify webhook submit reply invite push"),
    example: "upload_file",
  },
  {
    mark: "sendsOut",
    words: set("email mail message comment issue ticket"),
    notAfter: reading,
    example: "create_issue",
  },
];

function set(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join(" ").split(" "));
}

export interface Marks {
  readonly destructive: boolean;
  readonly bringsIn: boolean;
  readonly sendsOut: boolean;
  /** The reason for each mark, for display. */
  readonly why: Readonly<Partial<Record<Mark, string>>>;
}

/**
 * Marks from the tool's name and annotations. Annotations of an upstream can only add marks, except
 * `readOnlyHint`, which counts once a person has reviewed the tool.
 */
export function markTool(tool: Tool): Marks {
  const words = wordsOf(tool.name);
  const annotations = isObject(tool.annotations) ? tool.annotations : {};
  const why: Partial<Record<Mark, string>> = {};
  for (const { mark, words: known, notAfter } of rules) {
    const at = words.findIndex((word) => known.has(word));
    if (
      at === -1 ||
      why[mark] ||
      (notAfter && words.slice(0, at).some((word) => notAfter.has(word)))
    )
      continue;
    why[mark] = `its name contains "${words[at]}"`;
  }
  if (annotations.readOnlyHint === true) delete why.destructive;
  if (!plainName.test(tool.name)) why.destructive = "its name contains unusual characters";
  if (annotations.destructiveHint === true) why.destructive = "it is marked destructive";
  if (annotations.openWorldHint === true && annotations.readOnlyHint === true)
    why.bringsIn ??= "it is marked as reaching outside systems";
  if (hasUrl(tool.inputSchema)) why.bringsIn ??= "it takes a URL";
  return {
    destructive: why.destructive !== undefined,
    bringsIn: why.bringsIn !== undefined,
    sendsOut: why.sendsOut !== undefined,
    why,
  };
}

/** The characters MCP recommends. Look-alike letters would hide a word from the rules. */
const plainName = /^[A-Za-z0-9_./ -]*$/;

/** Lower-case words of `deleteRepo`, `delete_repo`, `HTTPDelete`. */
function wordsOf(name: string): readonly string[] {
  return name
    .normalize("NFKC")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

function hasUrl({ properties }: Tool["inputSchema"]): boolean {
  return (
    isObject(properties) &&
    Object.keys(properties).some((name) => /^(url|uri|href|link)s?$/i.test(name))
  );
}
