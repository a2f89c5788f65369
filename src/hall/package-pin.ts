import { ConfigError } from "../config/error.ts";
import type { ServerConfig } from "../config/schema.ts";
import { written } from "../config/variables.ts";
import type { InstalledPackage } from "../trust/review.ts";
import { findInstalled } from "../upstream/installation.ts";
import { findLaunch, type Launch } from "../upstream/launcher.ts";
import { thisMachine } from "./import/document.ts";
import { readProjectFile } from "./install/edit.ts";
import { writeThrough } from "./install/records.ts";

/** The package that a launcher such as npx has installed to start a server. */
export interface LaunchedPackage extends InstalledPackage {
  /** The command names this version and no other. */
  readonly isExact: boolean;
  /** How to name it exactly; undefined if it is, or if the project's file does not name it once. */
  readonly pin?: PackagePin | undefined;
}

interface PackagePin {
  /** As the file has it. */
  readonly before: string;
  /** With the version. */
  readonly after: string;
  /** The server's entry with the version. */
  readonly config: ServerConfig;
}

/** Undefined for other servers, and where the package manager records no digest. */
export async function findLaunchedPackage(
  config: ServerConfig,
  folder: string,
): Promise<LaunchedPackage | undefined> {
  const launch = config.type === "stdio" ? launchOf(config) : undefined;
  const [wanted, ...others] = launch?.packages ?? [];
  const installed = launch && findInstalled(launch);
  if (!launch || wanted === undefined || others.length > 0 || !installed?.integrity)
    return undefined;
  if (launch.isExact) return { ...installed, isExact: true };
  const pin = pinOf(config, wanted, installed);
  const isPossible = pin !== undefined && (await editProjectFile(folder, pin)) !== undefined;
  return { ...installed, isExact: false, pin: isPossible ? pin : undefined };
}

function launchOf(config: Extract<ServerConfig, { readonly type: "stdio" }>): Launch | undefined {
  try {
    return findLaunch(config);
  } catch {
    // Starting it reports why.
    return undefined;
  }
}

function pinOf(
  config: ServerConfig,
  before: string,
  { name, version }: InstalledPackage,
): PackagePin | undefined {
  const texts = config[written];
  const isOfRegistry = before === name || /^@[^:/]*$/.test(before.slice(name.length));
  if (config.type !== "stdio" || !texts?.isOfProject || !isOfRegistry) return undefined;
  const after = `${name}@${version}`;
  const replace = (args: readonly string[]): string[] =>
    args.map((word) => (word === before ? after : word));
  const args = replace(config.args);
  return {
    before,
    after,
    config: { ...config, args, [written]: { ...texts, args: replace(texts.args ?? []) } },
  };
}

/** Writes the exact version into the project's config. */
export async function writePin(folder: string, pin: PackagePin): Promise<void> {
  const edited = await editProjectFile(folder, pin);
  if (!edited) throw new ConfigError(`cannot find "${pin.before}" in the project's config`);
  await writeThrough(edited.file, edited.text, folder);
}

/** Undefined unless the file has the word exactly once: an edit must not touch another server. */
async function editProjectFile(
  folder: string,
  { before, after }: PackagePin,
): Promise<{ readonly file: string; readonly text: string } | undefined> {
  const { file, text = "" } = await readProjectFile(thisMachine(folder));
  const parts = text.split(JSON.stringify(before));
  return parts.length === 2 ? { file, text: parts.join(JSON.stringify(after)) } : undefined;
}
