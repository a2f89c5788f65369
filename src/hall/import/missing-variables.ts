import { realpath } from "node:fs/promises";
import { isObject } from "../../base/json.ts";
import { readProjectFile } from "../install/project-file.ts";
import { thisMachine } from "./document.ts";
import { findServers } from "./import.ts";

/** Variables that another client gives the same server, by the server's name here. Names only. */
export type ClientVariables = ReadonlyMap<
  string,
  { readonly client: string; readonly names: readonly string[] }
>;

export async function readClientVariables(folder: string): Promise<ClientVariables> {
  const machine = thisMachine(await realpath(folder));
  const { servers: existing } = await readProjectFile(machine);
  const { known } = await findServers({ machine, existing, ownScript: process.argv[1] });
  return new Map(
    known.map(({ name, sighting: { server, client } }) => [
      name,
      { client: client.name, names: isObject(server.env) ? Object.keys(server.env) : [] },
    ]),
  );
}
