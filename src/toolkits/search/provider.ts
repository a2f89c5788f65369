import type { Scope } from "../../base/scope.ts";

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
  /** A remark for the reader, such as "still being indexed". */
  readonly note?: string | undefined;
}

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** Date of publication or change, in the provider's format. */
  readonly published?: string;
}
