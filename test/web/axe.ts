import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Axe {
  run(): Promise<{
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
    }[];
  }>;
}

/** The violations that axe-core finds, each with the elements it is about. */
export async function findProblems(page: Page): Promise<readonly string[]> {
  // The debugger may evaluate what the policy of the page forbids.
  await page.evaluate(source);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { readonly axe: Axe };
    const { violations } = await axe.run();
    return violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(
            ({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary?.slice(0, 300)}`,
          )
          .join("; ")}`,
    );
  });
}
