import { HallError, messageOf } from "../../base/errors.ts";
import { isObject, type JsonObject, parseObject } from "../../base/json.ts";
import type { Scope } from "../../base/scope.ts";
import { createDialler, type Dialler, explain, readAll, refusal } from "../../net/dial.ts";
import { wordsOf } from "../../ranking/words.ts";
import type { FeedItem } from "./feed.ts";

/** A web search engine: how to build a request and how to read the reply. */
interface WebEngine {
  readonly name: string;
  request(query: SearchQuery): EngineRequest;
  rows(reply: JsonObject): unknown;
  /** The names of a row's fields; the first that exists is used. */
  readonly fields: { readonly snippet: readonly string[]; readonly published: readonly string[] };
  /** The setting to check if it refuses a request. */
  readonly refusalHint: string;
}

interface EngineRequest {
  readonly url: URL;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function createSearxng(address: string): WebEngine {
  return {
    name: "SearXNG",
    request({ text, kind, daysBack }) {
      const url = new URL("search", address.endsWith("/") ? address : `${address}/`);
      url.search = new URLSearchParams({
        q: text,
        format: "json",
        ...(kind === "news" ? { categories: "news", time_range: rangeOf(daysBack) } : {}),
      }).toString();
      return { url };
    },
    rows: ({ results }) => results,
    fields: { snippet: ["content"], published: ["publishedDate"] },
    refusalHint:
      "SearXNG answers in JSON only if its settings.yml lists json under search.formats.",
  };
}

/** The smallest of its ranges that covers the days. */
function rangeOf(daysBack = 1): string {
  if (daysBack <= 1) return "day";
  return daysBack <= 31 ? "month" : "year";
}

export function createBrave(
  key: string,
  keyName: string,
  origin = "https://api.search.brave.com",
): WebEngine {
  return {
    name: "Brave Search",
    request({ text, kind, count, daysBack = 7 }) {
      const url = new URL(`/res/v1/${kind}/search`, origin);
      const freshness = `${dayOf(-daysBack)}to${dayOf(0)}`;
      url.search = new URLSearchParams({
        q: text,
        count: `${count}`,
        ...(kind === "news" ? { freshness } : {}),
      }).toString();
      return { url, headers: { "x-subscription-token": key } };
    },
    rows: ({ web, results }) => (isObject(web) ? web.results : results),
    fields: { snippet: ["description"], published: ["page_age", "age"] },
    refusalHint: `Check that ${keyName} holds a valid Brave Search key.`,
  };
}

function dayOf(offset: number): string {
  return new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
}

export function createTavily(
  key: string,
  keyName: string,
  origin = "https://api.tavily.com",
): WebEngine {
  return {
    name: "Tavily",
    request({ text, kind, count, daysBack }) {
      const news = kind === "news" ? { topic: "news", days: daysBack } : { topic: "general" };
      return {
        url: new URL("/search", origin),
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ query: text, max_results: count, ...news }),
      };
    },
    rows: ({ results }) => results,
    fields: { snippet: ["content"], published: ["published_date"] },
    refusalHint: `Check that ${keyName} holds a valid Tavily key.`,
  };
}

const replyBytesMax = 4 * 1024 * 1024;

export function createWebProvider(engine: WebEngine): SearchProvider {
  // The address comes from the config, so it may be private.
  const dialler = createDialler(undefined);
  return {
    async search(query, scope) {
      const bytes = await fetchReply(dialler, engine, engine.request(query), scope);
      return { results: readRows(engine, parseRows(engine, bytes), query) };
    },
    close: async () => dialler.close(),
  };
}

/** Throws HallError with the name of the engine. */
async function fetchReply(
  dialler: Dialler,
  engine: Pick<WebEngine, "name" | "refusalHint">,
  { url, method = "GET", headers = {}, body }: EngineRequest,
  scope: Scope,
): Promise<Buffer> {
  const fail = (error: unknown): never => {
    throw scope.cancelReason ?? engineError(engine, explain(error));
  };
  const init = {
    method,
    headers: { accept: "application/json", "user-agent": "guildhall", ...headers },
    ...(body === undefined ? {} : { body }),
  };
  const response = await dialler.send(url, { ...init, signal: scope.signal }).catch(fail);
  if (!response.ok) throw engineError(engine, await refusal(response, false));
  return readAll(response, replyBytesMax).catch(fail);
}

function parseRows(engine: WebEngine, bytes: Buffer): readonly unknown[] {
  const reply = parseObject(bytes.toString("utf8"));
  // Some engines omit the list if nothing was found.
  const rows = reply && (engine.rows(reply) ?? []);
  if (Array.isArray(rows)) return rows;
  throw new HallError("BAD_ANSWER", `${engine.name} sent no JSON results`, {
    hint: engine.refusalHint,
  });
}

function readRows(
  { fields }: Pick<WebEngine, "fields">,
  rows: readonly unknown[],
  { kind, count, daysBack = 0 }: SearchQuery,
): SearchResult[] {
  const results = new Map<string, SearchResult>();
  const oldest = Date.now() - (daysBack + 1) * 86_400_000;
  for (const row of rows) {
    if (results.size === count) break;
    if (!isObject(row) || typeof row.url !== "string") continue;
    if (!/^https?:\/\//i.test(row.url) || results.has(row.url)) continue;
    const published = firstText(row, fields.published);
    // Not every engine respects the requested age; rows without a date are kept.
    if (kind === "news" && published !== "" && Date.parse(published) < oldest) continue;
    const title = toPlain(firstText(row, ["title"]), 200) || row.url;
    results.set(row.url, {
      title,
      url: row.url.slice(0, 2_000),
      snippet: toPlain(firstText(row, fields.snippet), 500),
      ...(published === "" ? {} : { published }),
    });
  }
  return [...results.values()];
}

function firstText(row: JsonObject, names: readonly string[]): string {
  const found = names.map((name) => row[name]).find((value) => typeof value === "string");
  return typeof found === "string" ? found : "";
}

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  "#x27": "'",
  nbsp: " ",
};

/** Removes the tags that engines put around matches. */
function toPlain(html: string, lengthMax: number): string {
  const text = html
    .slice(0, 10_000)
    .replace(/<\/?[a-z][^<>]{0,200}>/gi, "")
    .replace(/&(#?\w{2,6});/g, (entity, name: string) => entities[name.toLowerCase()] ?? entity)
    .replace(/\s+/g, " ")
    .trim();
  return text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text;
}

/** A refusal is UNAVAILABLE here: the user must fix the key or the engine's settings. */
function engineError(engine: Pick<WebEngine, "name" | "refusalHint">, error: HallError): HallError {
  const { code, message, details, cause } = error;
  const options = { cause, ...(details ? { details } : {}) };
  if (code !== "DENIED" && code !== "EXECUTION")
    return new HallError(code, `${engine.name}: ${message}`, options);
  return new HallError("UNAVAILABLE", `${engine.name} rejected the request: ${message}`, {
    ...options,
    hint: engine.refusalHint,
  });
}

/** Search without an account: Wikipedia's documented search API, and the RSS feeds that news publishers offer. */

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

/** A source of search results, which are passed on unchanged. */
export interface SearchProvider {
  /** Throws HallError: UNAVAILABLE if it cannot be reached, RATE_LIMITED if it asks for a pause. */
  search(query: SearchQuery, scope: Scope): Promise<SearchAnswer>;
  close(): Promise<void>;
}

export interface SearchQuery {
  readonly text: string;
  readonly kind: "web" | "news";
  readonly count: number;
  /** News only: the maximum age. */
  readonly daysBack?: number | undefined;
}

export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  /** A remark for the reader, such as which feeds were searched. */
  readonly note?: string | undefined;
}

interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** Date of publication or change, in the provider's format. */
  readonly published?: string;
}
