import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect } from "vitest";
import type { Site } from "./site.ts";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Axe {
  run(options: object): Promise<{
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
    }[];
  }>;
}

/** The other scheme differs in its colours only. */
const looks = [
  { width: 1280, height: 800, scheme: "light", rules: undefined },
  { width: 1280, height: 800, scheme: "dark", rules: ["color-contrast"] },
  { width: 390, height: 844, scheme: "light", rules: undefined },
] as const;

/** Expects axe-core to find no violation on these screens, in both schemes and on a phone. */
export async function expectNoProblems(
  { page, show }: Site,
  screens: readonly string[],
): Promise<void> {
  // The debugger may evaluate what the policy of the page forbids.
  await page.evaluate(source);
  for (const { scheme, rules, ...size } of looks) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: scheme });
    for (const screen of screens) {
      await show(screen);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.getByText("Loading …").first().waitFor({ state: "hidden" });
      const found = await page.evaluate(async (runOnly) => {
        const { axe } = globalThis as unknown as { readonly axe: Axe };
        const { violations } = await axe.run(runOnly ? { runOnly } : {});
        return violations.map(
          ({ id, nodes }) =>
            `${id}: ${nodes
              .slice(0, 3)
              .map((node) => `${node.html.slice(0, 200)} ${node.failureSummary?.slice(0, 300)}`)
              .join("; ")}`,
        );
      }, rules);
      expect(found, `${screen} ${scheme} ${size.width}`).toEqual([]);
    }
  }
}
