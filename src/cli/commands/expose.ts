import { visible } from "../../base/sanitize.ts";
import { formatBytes, plural } from "../../base/text.ts";
import { type Exposure, measureExposure, setExposure } from "../../hall/exposure.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { createWaiting } from "../live.ts";
import { print, wrapProse } from "../print.ts";

/** Sets what clients see, and shows it; without faces, only shows it. */
export async function runExpose(faces: string | undefined, options: JsonOption): Promise<void> {
  const edited = faces === undefined ? undefined : await setExposure(process.cwd(), faces);
  const settings = await loadProject();
  const exposure = await createWaiting().during("listing the tools", measureExposure(settings));
  const change = edited?.isChanged ? `set expose to ${exposure.expose} in ${edited.file}` : "";
  const text = [change, formatExposure(exposure)].filter(Boolean).join("\n");
  print({ ...exposure, file: edited?.file, changed: edited?.isChanged }, wrapProse(text), options);
}

const namesMax = 10;

function formatExposure({ expose, tools, bytes, tokens }: Exposure): string {
  const first = tools.slice(0, namesMax).map(visible).join(", ");
  const more = tools.length > namesMax ? ` and ${tools.length - namesMax} more` : "";
  return [
    `clients that start now see ${plural(tools.length, "tool")} (${formatBytes(bytes)}, about ${tokens} tokens; expose: ${expose}): ${first}${more}`,
    "to change it: `guildhall expose tools`, `search`, `agents`, `code` or `default`",
  ].join("\n");
}
