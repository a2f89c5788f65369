// Loaded when news are searched: the parser is large.
import { Parser } from "htmlparser2";

export interface FeedItem {
  readonly title: string;
  readonly url: string;
  readonly description: string;
  readonly published: string;
}

const fieldsOfItem: Readonly<Record<string, keyof FeedItem>> = {
  title: "title",
  link: "url",
  description: "description",
  pubdate: "published",
};

/** The items of an RSS feed. */
export function parseFeed(bytes: Buffer): readonly FeedItem[] {
  const items: FeedItem[] = [];
  let item: Record<keyof FeedItem, string> | undefined;
  let field: keyof FeedItem | undefined;
  const parser = new Parser(
    {
      onopentag(name) {
        if (name === "item") item = { title: "", url: "", description: "", published: "" };
        field = Object.hasOwn(fieldsOfItem, name) ? fieldsOfItem[name] : undefined;
      },
      ontext(text) {
        if (item && field) item[field] += text;
      },
      onclosetag(name) {
        field = undefined;
        if (name !== "item" || !item) return;
        items.push({ ...item, url: item.url.trim() });
        item = undefined;
      },
    },
    { xmlMode: true, lowerCaseTags: true },
  );
  parser.end(bytes.toString("utf8"));
  return items;
}
