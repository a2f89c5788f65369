import type { PageMethods, PageReads } from "../src/hall/page/contract.ts";
import { ask } from "./api.ts";

/**
 * The answers that the first screen needs, in one request that is sent while the browser still loads the
 * rest of the page. A screen that is not named here asks for its data when it is shown.
 */
export interface First {
  readonly reads: PageReads;
  readonly answer: Promise<PageMethods["start"]["result"]>;
}

/** More calls than a screen shows. */
export const firstCalls = { limit: 100 };

const navigation: PageReads = { approvals: {}, servers: {} };
const overview: PageReads = { status: {}, traffic: {}, exposure: {}, calls: firstCalls };
const screens: Readonly<Record<string, PageReads>> = {
  "": overview,
  overview,
  tools: { tools: {} },
  calls: { calls: firstCalls },
};

export function readFirst(): First {
  const [, screen = ""] = /^#\/([^/]*)/.exec(location.hash) ?? [];
  const reads = { ...navigation, ...screens[screen] };
  const answer = ask("start", { reads });
  // Avoid an unhandled rejection while the page that handles it is still loading.
  answer.catch(() => {});
  return { reads, answer };
}
