import { realpath } from "node:fs/promises";
import { openSecretStore, type SecretKey } from "../../base/secret-store.ts";
import { loginTarget } from "../../upstream/issuer.ts";
import { createTokenStore, listPeople } from "../../upstream/token-store.ts";
import type { Settings } from "../settings.ts";
import type { SharedOwn } from "./shared-own.ts";
import { withOwn } from "./team.ts";

export interface MovedOwn {
  readonly logins: number;
  readonly secrets: number;
}

/**
 * Copies the logins to this project's servers, and people's own secrets, from this machine to the database that `url`
 * names. A login or secret that the database has is newer. Other projects still use those of this machine. Throws
 * UNAVAILABLE.
 */
export async function moveOwn(settings: Settings, url: string): Promise<MovedOwn> {
  const { config } = settings;
  const there = { ...settings, config: { ...config, store: { ...config.store, url } } };
  return withOwn(there, async (own) => {
    if (!own) return { logins: 0, secrets: 0 };
    return {
      logins: await moveLogins(settings, own),
      secrets: await moveSecrets(settings, own),
    };
  });
}

async function moveLogins({ config }: Settings, { logins: shared }: SharedOwn): Promise<number> {
  const servers = Object.values(config.mcpServers);
  const urls = new Set(servers.flatMap((server) => loginTarget(server)?.url ?? []));
  let count = 0;
  for (const url of urls)
    for (const person of [undefined, ...listPeople(url)]) {
      const logins = await createTokenStore(url, { person }).read();
      const target = createTokenStore(url, { person, shared });
      const { issuer } = await target.read();
      if (logins.issuer === undefined || issuer !== undefined) continue;
      await target.write(logins);
      count++;
    }
  return count;
}

async function moveSecrets({ folder }: Settings, { secrets }: SharedOwn): Promise<number> {
  const project = await realpath(folder);
  const local = openSecretStore();
  const shared = secrets(local);
  const known = new Set(shared.list().map(nameOf));
  const wanted = local
    .list()
    .filter((secret) => secret.person !== undefined && (secret.project ?? project) === project)
    .filter((secret) => !known.has(nameOf(secret)));
  let count = 0;
  for (const { name, project: of, person, ...read } of await local.read(wanted)) {
    if ("problem" in read) continue;
    await shared.set({ name, project: of, person }, read.value);
    count++;
  }
  return count;
}

function nameOf({ name, project, person }: SecretKey): string {
  return JSON.stringify([name, project, person]);
}
