import { HallError } from "../base/errors.ts";
import type { AdminClient } from "../hall/admin-client.ts";

/**
 * The hall's control socket, opened with the first question. A question is asked once more on a new
 * connection, in case the hall was replaced. Throws UNAVAILABLE.
 */
export function createLastingAdmin(connect: () => Promise<AdminClient | undefined>): AdminClient {
  let client: AdminClient | undefined;

  async function close(): Promise<void> {
    const old = client;
    client = undefined;
    await old?.close();
  }

  return {
    async ask(method, params) {
      const isOld = client !== undefined;
      client ??= await connect();
      if (!client)
        throw new HallError("UNAVAILABLE", "cannot reach the hall of this project", {
          hint: "It has stopped, or has another version.",
        });
      try {
        return await client.ask(method, params);
      } catch (error) {
        const isLost =
          error instanceof HallError && error.code === "UNAVAILABLE" && error.relayed === undefined;
        if (!isLost) throw error;
        await close();
        if (!isOld) throw error;
        return this.ask(method, params);
      }
    },
    close,
  };
}
