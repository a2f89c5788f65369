import { createHash } from "node:crypto";

/** Names as a model's API allows them – letters, digits, `_` and `-`, at most 64 – and the way back to the tools' own. */
export interface ToolNames {
  /** The same name every time. */
  shown(fullName: string): string;
  /** The tool's own name for what a model wrote; what it wrote where that is nobody's. */
  meant(written: string): string;
}

const charactersMax = 64;

export function createToolNames(reserved: readonly string[]): ToolNames {
  const byFull = new Map<string, string>();
  const byShown = new Map<string, string>(reserved.map((name) => [name, name]));
  return {
    shown(fullName) {
      const known = byFull.get(fullName);
      if (known !== undefined) return known;
      const plain = fullName.replace(".", "__").replace(/[^A-Za-z0-9_-]/g, "_");
      const wish = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
      const isFree = wish.length <= charactersMax && !byShown.has(wish);
      const name = isFree ? wish : `${wish.slice(0, charactersMax - 9)}_${hashOf(fullName)}`;
      byFull.set(fullName, name);
      byShown.set(name, fullName);
      return name;
    },
    meant: (written) => byShown.get(written) ?? written,
  };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
