import { userInfo } from "node:os";
import { openStore } from "../store/open-store.ts";
import { projectStoreSettings } from "./project-store.ts";
import type { Settings } from "./settings.ts";

/** Writes into the project's audit what a person said at a terminal, beside a hall that may be writing too. A folder that keeps no audit gets none. */
export async function noteDecision(
  settings: Settings,
  kind: string,
  subjects: readonly string[],
  reason: string,
): Promise<void> {
  const { log } = settings;
  const place = projectStoreSettings(settings);
  if (!place || subjects.length === 0) return;
  const store = openStore(place, settings);
  try {
    for (const subject of subjects)
      await store.audit.append({ kind, subject, caller: `user ${userInfo().username}`, reason });
  } catch (err) {
    // It was said, and it holds; only the record of it is missing.
    log.error({ err, kind, subjects }, "not in the audit");
  } finally {
    await store.close();
  }
}
