// Values in a task are not words about the tool it needs: "/srv/data/a.md" does not ask for a data tool.

/**
 * A task in which paths, addresses, ids and quoted texts are replaced by what they are: "pdf file",
 * "url", "email address".
 */
export function maskValues(task: string): string {
  const text = task.slice(0, 4_000);
  return text.replace(values, (value, ...groups: unknown[]) => {
    const quoted = groups.slice(0, 4).find((group) => typeof group === "string");
    if (quoted === undefined) return ` ${kindOf(value)} `;
    // A short quote may be a word that tools know, and a task may be quoted as a whole.
    const isShort = String(quoted).split(/\s+/).length <= quotedWordsMax;
    const isKept = isShort || !/\p{L}/u.test(text.replace(value, ""));
    return isKept ? ` ${maskValues(String(quoted))} ` : " ";
  });
}

const quotedWordsMax = 3;
const extensions: Readonly<Record<string, string>> = {
  ...kindsOf("image", "png jpg jpeg gif webp bmp svg tif tiff heic"),
  ...kindsOf("audio", "mp3 wav ogg flac m4a"),
  ...kindsOf("video", "mp4 mov avi mkv webm"),
  ...kindsOf("word document", "doc docx odt rtf"),
  ...kindsOf("excel spreadsheet", "xls xlsx ods"),
  ...kindsOf("powerpoint presentation", "ppt pptx odp"),
  ...kindsOf("archive", "zip tar gz tgz 7z rar"),
  ...kindsOf("code", "js mjs ts tsx jsx py rb go rs java c h cpp cs php sh sql css ipynb"),
  ...kindsOf("", "md txt log env ini cfg conf toml lock bib tex bak db"),
  ...Object.fromEntries("pdf csv json xml html yaml yml".split(" ").map((name) => [name, name])),
};

function kindsOf(kind: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(" ").map((name) => [name, kind]));
}

const values = new RegExp(
  [
    String.raw`"([^"\n]{1,400})"`,
    String.raw`“([^”\n]{1,400})”`,
    "`([^`\\n]{1,400})`",
    String.raw`(?<![\p{L}\p{N}])'([^'\n]{1,400})'(?!\p{L})`,
    String.raw`\bhttps?:\/\/[^\s"'<>]*[^\s"'<>.,;:!?)\]]`,
    String.raw`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`,
    String.raw`(?<![\p{L}\p{N}/:@.])(?:[A-Za-z]:\\\S+|(?:~|\.{1,2})?(?:\/[\w@.+-]*\w)+\/?)(?![\p{L}\p{N}_])`,
    String.raw`(?<![\p{L}\p{N}/:@.])[\w@+./-]+\.(?:${Object.keys(extensions).join("|")})(?![\p{L}\p{N}_])`,
    String.raw`\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[a-z]*\d)[0-9a-f]{12,}\b`,
  ].join("|"),
  "giu",
);

function kindOf(value: string): string {
  const host = /^https?:\/\/(?:www\.)?(?:[\w-]+\.)*?([\w-]+)\.\w+(?:[/:?#]|$)/i.exec(value);
  if (/^https?:/i.test(value)) return `url ${host?.[1] ?? ""}`;
  if (value.includes("@") && !value.includes("/")) return "email address";
  if (!/[./\\]/.test(value)) return "";
  const extension = /\.(\w+)$/.exec(value)?.[1]?.toLowerCase() ?? "";
  const kind = Object.hasOwn(extensions, extension) ? extensions[extension] : undefined;
  return kind === undefined ? "path" : `${kind} file`;
}
