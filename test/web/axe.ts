import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect } from "vitest";
import type { Site } from "./site.ts";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Axe {
  run(
    context: object,
    options: object,
  ): Promise<{
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
    }[];
  }>;
}

/** The other scheme differs in its colours only, and a phone in everything else. */
const looks = [
  { width: 1280, height: 800, scheme: "light", options: {} },
  { width: 1280, height: 800, scheme: "dark", options: { runOnly: ["color-contrast"] } },
  {
    width: 390,
    height: 844,
    scheme: "light",
    options: { rules: { "color-contrast": { enabled: false } } },
  },
] as const;

/** Expects axe-core to find no violation on these screens, in both schemes and on a phone. */
export async function expectNoProblems(
  { page, show }: Pick<Site, "page" | "show">,
  screens: readonly string[],
): Promise<void> {
  // The debugger may evaluate what the policy of the page forbids.
  await page.evaluate(source);
  for (const { scheme, options, ...size } of looks) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: scheme });
    for (const screen of screens) {
      await show(screen);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.getByText("Loading …").first().waitFor({ state: "hidden" });
      // The frame around the screens is the same on all of them.
      const include = screen === screens[0] ? "html" : "main";
      const given = { context: { include }, options };
      const found = await page.evaluate(async ({ context, options: chosen }) => {
        const { axe } = globalThis as unknown as { readonly axe: Axe };
        const { violations } = await axe.run(context, { resultTypes: ["violations"], ...chosen });
        return violations.map(
          ({ id, nodes }) =>
            `${id}: ${nodes
              .slice(0, 3)
              .map((node) => `${node.html.slice(0, 200)} ${node.failureSummary?.slice(0, 300)}`)
              .join("; ")}`,
        );
      }, given);
      expect(found, `${screen} ${scheme} ${size.width}`).toEqual([]);
    }
  }
}
