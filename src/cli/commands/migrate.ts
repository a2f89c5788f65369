import { plural } from "../../base/text.ts";
import { moveProjectStore } from "../../hall/project-store.ts";
import { loadSettings } from "../../hall/settings.ts";
import type { JsonOption } from "../declaration.ts";
import { createLive, quiet } from "../live.ts";
import { print } from "../print.ts";

interface MigrateOptions extends JsonOption {
  readonly to?: string;
}

export async function runMigrate(options: MigrateOptions): Promise<void> {
  const live = options.json ? quiet : createLive();
  let shown = -1;
  const moved = await moveProjectStore(await loadSettings({}, "error"), {
    to: options.to,
    onProgress(done, total) {
      const tenth = Math.floor((10 * done) / total);
      if (tenth === shown) return;
      shown = tenth;
      live.progress({ progress: done, total, message: `${done} of ${plural(total, "row")}` });
    },
  }).finally(() => live.clear());

  const { from, to, rows, head, wasMoved } = moved;
  const counts = `${plural(rows.calls, "call")}, ${plural(rows.audit, "decision")}, ${plural(rows.documents, "document")}, ${plural(rows.statistics, "row")} of statistics`;
  const text = wasMoved
    ? `an earlier attempt moved everything to ${to}; it has ${counts}`
    : `moved ${from} to ${to}: ${counts}\n${next}`;
  print(moved, `${text}\naudit verified; last hash ${head}`, options);
}

const next =
  "The file is unchanged. Set store.url in your own config file to the database, then delete the file or keep it.";
