import { HallError } from "../base/errors.ts";
import { findNear } from "../base/near.ts";
import { connectAdmin } from "./admin-client.ts";
import type { ToolTrust } from "./admin-contract.ts";
import { openAlone } from "./project.ts";
import { loadSettings } from "./settings.ts";
import { socketPath } from "./socket.ts";
import { describeTrust } from "./tool-trust.ts";

/** How each tool of the project stands, from its hall: the running one, or one that lives for the question and starts nothing. */
export async function readToolTrust(): Promise<readonly ToolTrust[]> {
  const folder = process.cwd();
  const admin = await connectAdmin(await socketPath(folder));
  if (admin) {
    try {
      return (await admin.ask("trust", {})).tools;
    } finally {
      await admin.close();
    }
  }
  const project = await openAlone({ folder, settings: await loadSettings({}, "error") });
  try {
    return describeTrust(project.hall);
  } finally {
    await project.close();
  }
}

/** The tools a name stands for: one by its full or its bare name, or all of a toolkit. Throws NOT_FOUND with near names, `others` among them. */
export function findTools(
  name: string,
  tools: readonly ToolTrust[],
  others: readonly string[] = [],
): readonly ToolTrust[] {
  // A project's config chooses prefixes: what a server is called by its entry comes before what it calls itself.
  const exact =
    tools.find(({ key }) => key === name) ??
    tools.find((tool) => tool.name === name || tool.name === name.replace("__", "."));
  if (exact) return [exact];
  const ofToolkit = tools.filter(({ toolkit }) => toolkit === name);
  if (ofToolkit.length > 0) return ofToolkit;
  const bare = tools.filter(({ definition }) => definition.name === name);
  if (bare.length === 1) return bare;
  const near =
    bare.length > 1
      ? bare.map((tool) => tool.name)
      : findNear(name, new Set([...others, ...tools.flatMap((tool) => [tool.name, tool.toolkit])]));
  throw new HallError(
    "NOT_FOUND",
    `there is no tool or server "${name}"${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`,
    {
      hint: "See `guildhall trust list`; what a server offers is known after `guildhall build`.",
    },
  );
}

/** A running hall need not be told twice. Without one there is nobody to tell. */
export async function tellTrustChanged({ isRevoked = false } = {}): Promise<void> {
  const admin = await connectAdmin(await socketPath(process.cwd()));
  try {
    await admin?.ask("trustChanged", { isRevoked });
  } finally {
    await admin?.close();
  }
}
