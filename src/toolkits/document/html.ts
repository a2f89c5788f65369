import { Parser } from "htmlparser2";
import { HallError } from "../../base/errors.ts";
import { createTextSink } from "./sink.ts";

/**
 * The text of a page as a reader sees it: blocks on lines of their own, lists with dashes, cells apart. Menus, footers and what is hidden
 * stay out: nobody who looks at the page reads them, and hidden text is where instructions for models are put.
 */
export function parseHtml(html: string): { text: string; title?: string } {
  const page = readPage(html);
  const [kept, all] = [tidy(page.kept), tidy(page.all)];
  // A page that is all menu has nothing else to show.
  const text = kept.length >= Math.min(200, all.length / 2) ? kept : all;
  const title = tidy(page.title).replaceAll("\n", " ").slice(0, 500);
  return { text, ...(title === "" ? {} : { title }) };
}

const unseen = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "math",
  "iframe",
  "object",
  "canvas",
  "head",
  "datalist",
  "audio",
  "video",
]);
const chrome = new Set(["nav", "aside", "footer", "dialog", "button", "select", "menu"]);
const blocks = new Set(
  "address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main menu nav ol option p pre section summary table tbody tfoot thead title tr ul".split(
    " ",
  ),
);
const depthMax = 5_000;

function readPage(html: string): { kept: string; all: string; title: string } {
  const kept = createTextSink();
  const all = createTextSink();
  const title = createTextSink();
  let hasTitle = false;
  /** The depth at which something unseen, or a menu, began; 0 for none. */
  let unseenAt = 0;
  let chromeAt = 0;
  let preAt = 0;
  let depth = 0;
  let isTitle = false;
  const put = (text: string): void => {
    if (unseenAt > 0) return;
    all.put(text);
    if (chromeAt === 0) kept.put(text);
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      if (++depth > depthMax)
        throw new HallError("TOO_LARGE", `the page is nested more than ${depthMax} levels deep`);
      isTitle = name === "title" && !hasTitle;
      hasTitle ||= isTitle;
      if (unseen.has(name) || isHidden(attributes)) unseenAt ||= depth;
      if (chrome.has(name) || attributes.role === "navigation") chromeAt ||= depth;
      if (name === "pre") preAt ||= depth;
      if (blocks.has(name)) put(/^h[1-6]$/.test(name) ? "\n\n" : "\n");
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
      if (blocks.has(name)) put(name === "p" || /^h[1-6]$/.test(name) ? "\n\n" : "\n");
      if (unseenAt === depth) unseenAt = 0;
      if (chromeAt === depth) chromeAt = 0;
      if (preAt === depth) preAt = 0;
      depth--;
    },
  });
  for (let at = 0; at < html.length; at += 65_536) parser.write(html.slice(at, at + 65_536));
  parser.end();
  return { kept: kept.text(), all: all.text(), title: title.text() };
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
