import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { explain, readAll, refusal } from "../../net/answer.ts";
import { createDialler } from "../../net/dial.ts";
import type { SearchProvider, SearchQuery, SearchResult } from "./provider.ts";

/** Search engines on the web. Each is a request and a way to read the answer; what they have in common is below. */
export interface WebEngine {
  readonly name: string;
  ask(query: SearchQuery): EngineRequest;
  /** The rows of an answer, as they come. */
  rows(answer: JsonObject): unknown;
  /** The fields of a row. */
  readonly fields: { readonly snippet: readonly string[]; readonly published: readonly string[] };
  /** What to do when it refuses. */
  readonly refusedHint: string;
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
    ask({ text, kind, daysBack }) {
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
    refusedHint:
      "SearXNG answers in JSON only when its settings.yml lists json under search.formats.",
  };
}

/** The least of its ranges that holds the days. */
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
    ask({ text, kind, count, daysBack = 7 }) {
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
    refusedHint: `Look whether ${keyName} holds a valid key of Brave Search.`,
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
    ask({ text, kind, count, daysBack }) {
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
    refusedHint: `Look whether ${keyName} holds a valid key of Tavily.`,
  };
}

const answerBytesMax = 4 * 1024 * 1024;

export function createWebProvider(engine: WebEngine): SearchProvider {
  // Where it is was decided by whoever wrote the config, so it may be inside this network.
  const dialler = createDialler(undefined);
  return {
    async search(query, scope) {
      const { url, method = "GET", headers = {}, body } = engine.ask(query);
      const init = {
        method,
        headers: { accept: "application/json", "user-agent": "guildhall", ...headers },
        ...(body === undefined ? {} : { body }),
      };
      const response = await dialler
        .send(url, { ...init, signal: scope.signal })
        .catch((error: unknown) => {
          throw scope.cancelled ?? named(engine, explain(error));
        });
      if (!response.ok) throw named(engine, await refusal(response, false));
      const bytes = await readAll(response, answerBytesMax).catch((error: unknown) => {
        throw scope.cancelled ?? named(engine, explain(error));
      });
      return { results: readRows(engine, parseAnswer(engine, bytes), query) };
    },
    close: async () => dialler.close(),
  };
}

function parseAnswer(engine: WebEngine, bytes: Buffer): readonly unknown[] {
  try {
    const answer: unknown = JSON.parse(bytes.toString("utf8"));
    const rows = isObject(answer) ? engine.rows(answer) : undefined;
    // An engine that found nothing may leave them out.
    if (Array.isArray(rows) || (isObject(answer) && rows === undefined)) return rows ?? [];
  } catch {
    // Said below.
  }
  throw new HallError("BAD_ANSWER", `${engine.name} did not answer with results in JSON`, {
    hint: engine.refusedHint,
  });
}

function readRows(
  { fields }: WebEngine,
  rows: readonly unknown[],
  { kind, count, daysBack = 0 }: SearchQuery,
): SearchResult[] {
  const results = new Map<string, SearchResult>();
  const oldest = Date.now() - (daysBack + 1) * 86_400_000;
  for (const row of rows) {
    if (results.size === count) break;
    if (
      !isObject(row) ||
      typeof row.url !== "string" ||
      !/^https?:\/\//i.test(row.url) ||
      results.has(row.url)
    )
      continue;
    const published = firstText(row, fields.published);
    // Not every engine keeps to the days it was asked for; what has no date is believed.
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

/** Engines mark the words they found with tags. */
function toPlain(html: string, lengthMax: number): string {
  const text = html
    .slice(0, 10_000)
    .replace(/<\/?[a-z][^<>]{0,200}>/gi, "")
    .replace(/&(#?\w{2,6});/g, (entity, name: string) => entities[name.toLowerCase()] ?? entity)
    .replace(/\s+/g, " ")
    .trim();
  return text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text;
}

/** The engine's failure as the caller's: a key it refuses is ours to mend, not a matter of trust. */
function named(engine: WebEngine, { code, message, details, cause }: HallError): HallError {
  const isRefused = code === "DENIED" || code === "EXECUTION";
  const options = {
    cause,
    ...(details ? { details } : {}),
    ...(isRefused ? { hint: engine.refusedHint } : {}),
  };
  return new HallError(
    isRefused ? "UNAVAILABLE" : code,
    isRefused
      ? `${engine.name} refuses: ${message.replace(/:.*/, "")}`
      : `${engine.name}: ${message}`,
    options,
  );
}
