import * as nodeModule from "node:module";

/** Newer Nodes keep compiled code between starts; 20 does not know the function. */
export function enableCompileCache(): void {
  const { enableCompileCache: enable } = nodeModule as { enableCompileCache?: () => unknown };
  enable?.();
}
