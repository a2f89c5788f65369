import { HallError } from "../base/errors.ts";
import { findNear } from "../base/near.ts";
import { type Client, clients } from "../hall/import/clients.ts";

/** Throws HallError with the known names. */
export function getClient(id: string): Client {
  const client =
    clients.find((each) => each.id === id) ?? clients.find((each) => each.id.startsWith(`${id}-`));
  if (client) return client;
  const ids = clients.map((each) => each.id);
  const [near] = findNear(id, ids);
  throw new HallError(
    "NOT_FOUND",
    `unknown client "${id}" (expected: ${ids.join(", ")})`,
    near === undefined ? {} : { hint: `Did you mean ${near}?` },
  );
}
