import { HallError } from "../base/errors.ts";
import { findNear } from "../base/near.ts";
import type { Client } from "../hall/import/clients.ts";
import { clients } from "../hall/import/clients.ts";

/** The client a person named. Throws HallError with the names there are. */
export function getClient(id: string): Client {
  const client =
    clients.find((each) => each.id === id) ?? clients.find((each) => each.id.startsWith(`${id}-`));
  if (client) return client;
  const ids = clients.map((each) => each.id);
  const [near] = findNear(id, ids);
  throw new HallError(
    "NOT_FOUND",
    `there is no client "${id}"${near ? `; did you mean ${near}?` : ""}`,
    { hint: `There is: ${ids.join(", ")}.` },
  );
}
