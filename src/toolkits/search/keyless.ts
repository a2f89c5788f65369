/** Search without an account: Wikipedia's documented search API, and the RSS feeds that news publishers offer. */
import { HallError, messageOf } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";
import type { Scope } from "../../base/scope.ts";
import { createDialler } from "../../net/dial.ts";
import { wordsOf } from "../../ranking/words.ts";
import type { FeedItem } from "./feed.ts";
import type { SearchProvider, SearchQuery, SearchResult } from "./provider.ts";
import { createWebProvider, fetchReply, readRows, type WebEngine } from "./web.ts";

const wikipedia = "https://en.wikipedia.org";
const feeds: readonly string[] = [
  "https://feeds.bbci.co.uk/news/world/rss.xml",
  "https://www.theguardian.com/world/rss",
  "https://feeds.npr.org/1001/rss.xml",
];

/** Named in the tools' descriptions. */
export const keylessSources = {
  web: "en.wikipedia.org",
  news: feeds.map((feed) => new URL(feed).host).join(", "),
};

/** `origin` replaces every host in tests. */
export function createKeyless(origin?: string): SearchProvider {
  const pages = createWebProvider(createWikipedia(origin ?? wikipedia));
  const dialler = createDialler(undefined);
  const addresses = feeds.map((feed) =>
    origin === undefined ? new URL(feed) : new URL(new URL(feed).host, `${origin}/`),
  );

  async function readNews(query: SearchQuery, scope: Scope): Promise<readonly SearchResult[]> {
    const { parseFeed } = await import("./feed.ts");
    const read = await Promise.allSettled(
      addresses.map(async (url) => {
        const engine = { name: url.host, refusalHint: "Try again later." };
        return parseFeed(await fetchReply(dialler, engine, { url }, scope));
      }),
    );
    scope.signal.throwIfAborted();
    const items = read.flatMap((feed) => (feed.status === "fulfilled" ? feed.value : []));
    const [failed] = read.flatMap((feed) => (feed.status === "rejected" ? [feed.reason] : []));
    if (failed !== undefined && read.every(({ status }) => status === "rejected"))
      throw failed instanceof HallError ? failed : new HallError("UNAVAILABLE", messageOf(failed));
    return readRows(newsFields, rankItems(items, query.text), query);
  }

  return {
    async search(query, scope) {
      if (query.kind === "web") return pages.search(query, scope);
      const note = `only the current feeds of ${keylessSources.news} were searched`;
      return { results: await readNews(query, scope), note };
    },
    async close() {
      dialler.close();
      await pages.close();
    },
  };
}

function createWikipedia(origin: string): WebEngine {
  return {
    name: "Wikipedia",
    request({ text, count }) {
      const url = new URL("/w/rest.php/v1/search/page", origin);
      url.search = new URLSearchParams({ q: text, limit: `${count}` }).toString();
      return { url };
    },
    rows: ({ pages }) =>
      Array.isArray(pages)
        ? pages.filter(isObject).map(({ key, title, excerpt }) => ({
            title,
            excerpt,
            url: `${wikipedia}/wiki/${encodeURIComponent(String(key))}`,
          }))
        : pages,
    fields: { snippet: ["excerpt"], published: [] },
    refusalHint: "Try again later, or configure another provider.",
  };
}

const newsFields = { fields: { snippet: ["description"], published: ["published"] } };

/** Items with a word of the query, those with most of them first. */
function rankItems(items: readonly FeedItem[], query: string): readonly FeedItem[] {
  const wanted = new Set(wordsOf(query));
  return items
    .map((item) => {
      const words = new Set(wordsOf(`${item.title} ${item.description}`));
      return { item, score: [...wanted].filter((word) => words.has(word)).length };
    })
    .filter(({ score }) => score * 2 >= wanted.size && score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ item }) => item);
}
