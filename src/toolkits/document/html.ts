import { Parser } from "htmlparser2";
import { HallError } from "../../base/errors.ts";
import { TextSink } from "./text.ts";

/**
 * The text of a page as a reader sees it: one line for each block, dashes for list items, tabs between
 * cells. Menus and footers are skipped, and so is hidden text: it is where attackers put instructions
 * for models.
 */
export function parseHtml(html: string): { text: string; title?: string | undefined } {
  const page = readPage(html);
  const [main, all] = [tidy(page.main), tidy(page.all)];
  // Some pages consist of menus only: take these, too, if little text is left without them.
  const text = main.length >= Math.min(200, all.length / 2) ? main : all;
  const title = tidy(page.title).replaceAll("\n", " ").slice(0, 500);
  return { text, title: title || undefined };
}

const hiddenTags = new Set(
  "script style noscript template svg math iframe object canvas head datalist audio video".split(
    " ",
  ),
);
const menuTags = new Set(["nav", "aside", "footer", "dialog", "button", "select", "menu"]);
const blockTags = new Set(
  `address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6
  header hr html li main menu nav ol option p pre section summary table tbody tfoot thead title tr ul`.split(
    /\s+/,
  ),
);
const depthMax = 5_000;

/** All visible text, and the part of it (`main`) that is in no menu. */
function readPage(html: string): { main: string; all: string; title: string } {
  const main = new TextSink();
  const all = new TextSink();
  const title = new TextSink();
  let hasTitle = false;
  // The depths at which a hidden element, a menu or preformatted text began; 0 for none.
  let hiddenAt = 0;
  let menuAt = 0;
  let preAt = 0;
  let depth = 0;
  let isTitle = false;
  const put = (text: string): void => {
    if (hiddenAt > 0) return;
    all.put(text);
    if (menuAt === 0) main.put(text);
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      if (++depth > depthMax)
        throw new HallError("TOO_LARGE", "the page exceeds the limit of 5,000 nesting levels");
      isTitle = name === "title" && !hasTitle;
      hasTitle ||= isTitle;
      if (hiddenTags.has(name) || isHidden(attributes)) hiddenAt ||= depth;
      if (menuTags.has(name) || attributes.role === "navigation") menuAt ||= depth;
      if (name === "pre") preAt ||= depth;
      if (blockTags.has(name)) put(/^h[1-6]$/.test(name) ? "\n\n" : "\n");
      if (name === "li") put("- ");
      else if (name === "br") put("\n");
      else if (name === "td" || name === "th") put("\t");
    },
    ontext(text) {
      if (isTitle) title.put(text);
      put(preAt > 0 ? text : text.replace(/\s+/g, " "));
    },
    onclosetag(name) {
      isTitle = false;
      if (blockTags.has(name)) put(name === "p" || /^h[1-6]$/.test(name) ? "\n\n" : "\n");
      if (hiddenAt === depth) hiddenAt = 0;
      if (menuAt === depth) menuAt = 0;
      if (preAt === depth) preAt = 0;
      depth--;
    },
  });
  for (let at = 0; at < html.length; at += 65_536) parser.write(html.slice(at, at + 65_536));
  parser.end();
  return { main: main.text(), all: all.text(), title: title.text() };
}

function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  if (attributes.hidden !== undefined || attributes["aria-hidden"] === "true") return true;
  return /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d])/i.test(
    (attributes.style ?? "").slice(0, 2_000),
  );
}

function tidy(text: string): string {
  return text
    .split("\n")
    .map((line) =>
      line
        .replace(/^[ \t\u00a0]*\t[ \t]*/, "")
        .replace(/[ \t\u00a0]+$/, "")
        .replace(/^ (?! )/, ""),
    )
    .filter((line) => line !== "-")
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
