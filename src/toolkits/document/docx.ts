import { Parser } from "htmlparser2";
import { HallError } from "../../base/errors.ts";
import { TextSink } from "./text.ts";
import { openZip } from "./zip.ts";

/** The text of a Word document: paragraphs, tables as tab-separated lines, then notes. Deleted text and field codes are skipped. */
export function parseDocx(bytes: Uint8Array): { text: string; title?: string | undefined } {
  const zip = openZip(bytes);
  const main = zip.names.find((name) => /^word\/document\d*\.xml$/.test(name));
  const body = main === undefined ? undefined : zip.read(main);
  if (!body)
    throw new HallError("EXECUTION", "the document is not docx: it has no word/document.xml");
  const notes = ["word/footnotes.xml", "word/endnotes.xml"].map((name) => zip.read(name));
  const text = [body, ...notes]
    .map((part) => (part ? textOf(part).trim() : ""))
    .filter((part) => part !== "");
  return { text: text.join("\n\n"), title: titleOf(zip.read("docProps/core.xml")) };
}

const endMarks: Readonly<Record<string, string>> = { p: "\n", tc: "\t", tr: "\n" };
const startMarks: Readonly<Record<string, string>> = {
  tab: "\t",
  br: "\n",
  cr: "\n",
  noBreakHyphen: "-",
};
const depthMax = 1_000;

function textOf(xml: Buffer): string {
  const sink = new TextSink();
  let isText = false;
  let depth = 0;
  /** The depth of an alternative for older readers, which repeats the content; 0 for none. */
  let fallbackAt = 0;
  let cellDepth = 0;
  const parser = new Parser(
    {
      onopentagname(fullName) {
        if (++depth > depthMax)
          throw new HallError(
            "TOO_LARGE",
            "the document exceeds the limit of 1,000 nesting levels",
          );
        const name = localName(fullName);
        if (name === "Fallback") fallbackAt ||= depth;
        if (name === "tc") cellDepth++;
        isText = name === "t" && fallbackAt === 0;
        if (fallbackAt === 0 && startMarks[name]) sink.put(startMarks[name]);
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
        // Paragraphs of a cell stay on one line.
        if (name === "p" && cellDepth > 0) sink.put(" ");
        else if (endMarks[name]) sink.put(endMarks[name]);
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

/** In pieces: decoding all at once would double the memory of a large document. */
function feed(parser: Parser, xml: Buffer): void {
  const decoder = new TextDecoder();
  for (let at = 0; at < xml.length; at += 65_536)
    parser.write(decoder.decode(xml.subarray(at, at + 65_536), { stream: true }));
  parser.end();
}

function titleOf(xml: Buffer | undefined): string | undefined {
  const [, title] =
    /<dc:title>([^<]{1,500})<\/dc:title>/.exec(xml?.toString("utf8", 0, 65_536) ?? "") ?? [];
  return title?.trim() || undefined;
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
