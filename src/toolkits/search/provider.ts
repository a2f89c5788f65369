import type { Scope } from "../../base/scope.ts";

/** Somebody who can be asked what there is on a subject. Answers are passed on, never added to. */
export interface SearchProvider {
  /** Throws HallError: UNAVAILABLE when it cannot be asked, RATE_LIMITED when it wants a pause. */
  search(query: SearchQuery, scope: Scope): Promise<SearchAnswer>;
  close(): Promise<void>;
}

export interface SearchQuery {
  readonly text: string;
  readonly kind: "web" | "news";
  readonly count: number;
  /** News: how many days it may be old. */
  readonly daysBack?: number;
}

export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  /** What the reader should know of them. */
  readonly note?: string;
}

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** When it was published or changed, as the provider says it. */
  readonly published?: string;
}
