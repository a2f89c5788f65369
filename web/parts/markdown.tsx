import type { ComponentChildren } from "preact";

/**
 * Markdown as people write it in specs and agent files: headings, lists with boxes, code, quotes, tables, bold and code
 * words. Built from elements, never from HTML text, so that nothing in it can be markup.
 */
export function Markdown({ text }: { readonly text: string }) {
  return <div class="markdown">{blocksOf(text).map(show)}</div>;
}

type Block =
  | { readonly kind: "heading"; readonly level: number; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly Item[] }
  | { readonly kind: "table"; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: "quote" | "text"; readonly text: string };

interface Item {
  readonly depth: number;
  readonly box: "open" | "done" | undefined;
  readonly number: string | undefined;
  readonly text: string;
}

const itemPattern = /^(\s*)(?:[-*+]|(\d+)[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/;

function blocksOf(text: string): readonly Block[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    const take = (isPart: (line: string) => boolean): readonly string[] => {
      const from = at;
      while (at < lines.length && isPart(lines[at] ?? "")) at++;
      return lines.slice(from, at);
    };
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (line.trim() === "" || /^<!--.*-->$/.test(line.trim())) at++;
    else if (heading) {
      at++;
      blocks.push({ kind: "heading", level: heading[1]?.length ?? 1, text: heading[2] ?? "" });
    } else if (/^\s*```/.test(line)) {
      at++;
      const code = take((next) => !/^\s*```/.test(next));
      at++;
      blocks.push({ kind: "code", text: code.join("\n") });
    } else if (itemPattern.test(line)) {
      const part = take((next) => itemPattern.test(next) || /^\s{2,}\S/.test(next));
      blocks.push({ kind: "list", items: itemsOf(part) });
    } else if (line.startsWith("|")) {
      const rows = take((next) => next.startsWith("|")).map(cellsOf);
      blocks.push({ kind: "table", rows: rows.filter((row) => !row.every(isRule)) });
    } else if (line.startsWith(">")) {
      const quote = take((next) => next.startsWith(">")).map((next) => next.replace(/^>\s?/, ""));
      blocks.push({ kind: "quote", text: quote.join(" ") });
    } else {
      const part = take(
        (next) =>
          next.trim() !== "" && !/^(#{1,6}\s|\s*```|\||>)/.test(next) && !itemPattern.test(next),
      );
      blocks.push({ kind: "text", text: part.join(" ") });
    }
  }
  return blocks;
}

function itemsOf(lines: readonly string[]): readonly Item[] {
  const items: Item[] = [];
  for (const line of lines) {
    const found = itemPattern.exec(line);
    const last = items.at(-1);
    if (!found && last) items[items.length - 1] = { ...last, text: `${last.text} ${line.trim()}` };
    if (!found) continue;
    const [, indent = "", number, box, text = ""] = found;
    const isDone = box?.toLowerCase() === "x";
    const state = isDone ? "done" : "open";
    items.push({
      depth: Math.min(4, Math.floor(indent.length / 2)),
      number,
      box: box === undefined ? undefined : state,
      text,
    });
  }
  return items;
}

function cellsOf(line: string): readonly string[] {
  return line
    .replace(/^\||\|\s*$/g, "")
    .split("|")
    .map((cell) => cell.trim());
}

function isRule(cell: string): boolean {
  return /^:?-+:?$/.test(cell);
}

function show(block: Block, key: number): ComponentChildren {
  switch (block.kind) {
    case "heading": {
      const Level = `h${Math.min(6, block.level + 1)}` as "h2";
      return <Level key={key}>{inline(block.text)}</Level>;
    }
    case "code":
      return (
        <pre key={key} class="code">
          {block.text}
        </pre>
      );
    case "quote":
      return <blockquote key={key}>{inline(block.text)}</blockquote>;
    case "text":
      return <p key={key}>{inline(block.text)}</p>;
    case "list":
      return (
        <ul key={key}>
          {block.items.map((item, at) => (
            <li key={`${at}`} class={`depth-${item.depth} ${item.box ?? ""}`}>
              {item.number !== undefined && <span class="faint">{item.number}. </span>}
              {item.box && <span class="box" role="img" aria-label={item.box} />}
              {inline(item.text)}
            </li>
          ))}
        </ul>
      );
    case "table":
      return (
        <div key={key} class="scroll-x">
          <table>
            <tbody>
              {block.rows.map((row, at) => (
                <tr key={`${at}`}>
                  {row.map((cell, column) =>
                    at === 0 ? (
                      <th key={`${column}`}>{inline(cell)}</th>
                    ) : (
                      <td key={`${column}`}>{inline(cell)}</td>
                    ),
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
  }
}

const inlinePattern = /(`[^`]+`|\*\*[^*]+\*\*|\[NEEDS CLARIFICATION:[^\]]*\])/;

/** Links stay text: an untrusted address must not be clickable. */
function inline(text: string): ComponentChildren {
  return text.split(inlinePattern).map((part, at) => {
    const key = `${at}`;
    if (part.startsWith("`") && part.length > 2) return <code key={key}>{part.slice(1, -1)}</code>;
    if (part.startsWith("**") && part.length > 4)
      return <strong key={key}>{part.slice(2, -2)}</strong>;
    if (part.startsWith("[NEEDS")) return <mark key={key}>{part}</mark>;
    return part;
  });
}
