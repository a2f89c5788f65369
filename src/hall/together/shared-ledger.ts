import type { Entries, Ledger } from "../../trust/ledger.ts";
import type { Settings } from "../settings.ts";
import { withBoard } from "./team.ts";

const key = "entries";

/**
 * The user's decisions as several halls share them. The row in the database is what counts; each
 * machine's file follows it, so that reading costs what it always did. A change is made when every
 * hall obeys it.
 */
export function shareLedger(local: Ledger, settings: Settings): Ledger {
  return {
    ...local,
    async change(edit) {
      const here = await local.read();
      let changed: Entries = here;
      await withBoard(settings, (board) =>
        board.edit("trust", key, (text) => {
          const base = newer(here, parse(text));
          changed = { ...edit(base), revision: revisionOf(base) + 1 };
          return JSON.stringify(changed);
        }),
      );
      return adoptEntries(local, changed);
    },
  };
}

/** Makes this machine's file follow the row. */
export async function followEntries(local: Ledger, text: string | undefined): Promise<void> {
  const entries = parse(text);
  if (entries) await adoptEntries(local, entries);
}

async function adoptEntries(local: Ledger, entries: Entries): Promise<Entries> {
  if (revisionOf(await local.read()) >= revisionOf(entries)) return entries;
  return local.change((now) => newer(now, entries));
}

/** A row that is older than the file was put back, with grants that were revoked since. */
function newer(here: Entries, there: Entries | undefined): Entries {
  return there && revisionOf(there) > revisionOf(here) ? there : here;
}

function revisionOf({ revision = 0 }: Entries): number {
  return revision;
}

/** Only halls of the team can write a row. */
function parse(text: string | undefined): Entries | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Entries);
}
