import { Parser } from "htmlparser2";
import { HallError } from "../../base/errors.ts";
import { createTextSink } from "./sink.ts";
import { openZip } from "./zip.ts";

/** The text of a Word document: paragraphs, tables as lines of cells, then foot- and endnotes. Deleted text and field codes stay out. */
export function parseDocx(bytes: Uint8Array): { text: string; title?: string } {
  const zip = openZip(bytes);
  const main = zip.names.find((name) => /^word\/document\d*\.xml$/.test(name));
  const body = main === undefined ? undefined : zip.read(main);
  if (!body)
    throw new HallError("EXECUTION", "the document is no docx: it has no word/document.xml");
  const notes = ["word/footnotes.xml", "word/endnotes.xml"].map((name) => zip.read(name));
  const text = [body, ...notes]
    .map((part) => (part ? textOf(part).trim() : ""))
    .filter((part) => part !== "");
  const title = titleOf(zip.read("docProps/core.xml"));
  return { text: text.join("\n\n"), ...(title ? { title } : {}) };
}

const closing: Readonly<Record<string, string>> = { p: "\n", tc: "\t", tr: "\n" };
const standing: Readonly<Record<string, string>> = {
  tab: "\t",
  br: "\n",
  cr: "\n",
  noBreakHyphen: "-",
};
const depthMax = 1_000;

function textOf(xml: Buffer): string {
  const sink = createTextSink();
  let isText = false;
  let depth = 0;
  /** Word writes what older readers should show beside what newer ones do. */
  let fallbackAt = 0;
  let cellDepth = 0;
  const parser = new Parser(
    {
      onopentagname(fullName) {
        if (++depth > depthMax)
          throw new HallError(
            "TOO_LARGE",
            `the document is nested more than ${depthMax} levels deep`,
          );
        const name = localName(fullName);
        if (name === "Fallback") fallbackAt ||= depth;
        if (name === "tc") cellDepth++;
        isText = name === "t" && fallbackAt === 0;
        if (fallbackAt === 0 && standing[name]) sink.put(standing[name]);
      },
      ontext(text) {
        if (isText) sink.put(text);
      },
      onclosetag(fullName) {
        const name = localName(fullName);
        isText = false;
        if (fallbackAt === depth) fallbackAt = 0;
        depth--;
        if (name === "tc") cellDepth--;
        if (fallbackAt > 0) return;
        // A cell's paragraphs stay on its line.
        if (name === "p" && cellDepth > 0) sink.put(" ");
        else if (closing[name]) sink.put(closing[name]);
      },
    },
    { xmlMode: true },
  );
  feed(parser, xml);
  return sink
    .text()
    .replace(/ *\t */g, "\t")
    .replace(/[ \t]+\n/g, "\n")
    .replace(/\n{3,}/g, "\n\n");
}

/** In pieces: a whole text beside its bytes would double what a large document needs. */
function feed(parser: Parser, xml: Buffer): void {
  const decoder = new TextDecoder();
  for (let at = 0; at < xml.length; at += 65_536)
    parser.write(decoder.decode(xml.subarray(at, at + 65_536), { stream: true }));
  parser.end();
}

function titleOf(xml: Buffer | undefined): string | undefined {
  const [, title] =
    /<dc:title>([^<]{1,500})<\/dc:title>/.exec(xml?.toString("utf8", 0, 65_536) ?? "") ?? [];
  return title?.trim();
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
