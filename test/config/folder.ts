import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Keyring, openSecretStore, type SecretStore } from "../../src/base/secret-store.ts";
import { type LoadedConfig, type LoadOptions, loadConfig } from "../../src/config/load.ts";

/** A project folder of its own, with a user file that is not there until it is written. */
export interface ConfigFolder extends Disposable {
  readonly path: string;
  readonly userFile: string;
  readonly store: SecretStore;
  /** Writes a file of the project; "user" is the user's. Returns its path. */
  write(name: string, content: string | Buffer | object): string;
  load(options?: Partial<LoadOptions>): Promise<LoadedConfig>;
  /** The problems of the config and of single servers, without the folder's path. */
  refusal(options?: Partial<LoadOptions>): Promise<string>;
}

const none = async (): Promise<never> => {
  throw new Error("there is no keyring");
};
export const noKeyring: Keyring = { read: none, write: none, remove: none };

export function makeConfigFolder(files: Record<string, string | object> = {}): ConfigFolder {
  const path = mkdtempSync(join(tmpdir(), "guildhall-config-"));
  const userFile = join(path, "home", "config.json");
  const store = openSecretStore(join(path, "secrets"), noKeyring);
  const load = (options: Partial<LoadOptions> = {}): Promise<LoadedConfig> =>
    loadConfig({ folder: path, userFile, env: {}, store, ...options });
  const folder: ConfigFolder = {
    path,
    userFile,
    store,
    write(name, content) {
      const file = name === "user" ? userFile : join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(
        file,
        typeof content === "string" || Buffer.isBuffer(content) ? content : JSON.stringify(content),
      );
      return file;
    },
    load,
    refusal: (options) =>
      load(options).then(
        ({ unusable }) =>
          Object.entries(unusable)
            .flatMap(([name, { problems }]) =>
              problems.map((problem) => `${name}.${problem.replaceAll(`${path}/`, "")}`),
            )
            .join("\n"),
        (error: Error) => error.message.replaceAll(`${path}/`, ""),
      ),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
  for (const [name, content] of Object.entries(files)) folder.write(name, content);
  return folder;
}
