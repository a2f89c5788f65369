import { Client } from "../client/client.ts";
import { McpConnection } from "../client/connection.ts";
import { parseFaces } from "../server/faces.ts";
import { defaultLimits } from "../wire/channel.ts";
import { type EditedFile, editConfig } from "./config-edit.ts";
import { acceptInside, openAlone } from "./project.ts";
import type { Settings } from "./settings.ts";

/** The list that clients see of a hall with this config. */
export interface Exposure {
  /** The config's faces, or "default". */
  readonly expose: string;
  /** The names in `tools/list`. */
  readonly tools: readonly string[];
  /** Size of the list as JSON. */
  readonly bytes: number;
  /** Estimated: four bytes each. */
  readonly tokens: number;
}

/** Writes the faces to the config; "default" removes them. Throws INVALID_PARAMS. */
export async function setExposure(folder: string, expose: string): Promise<EditedFile> {
  const faces = expose === "default" ? undefined : parseFaces(expose).join(",");
  return editConfig(folder, ({ expose: _before, ...tree }) =>
    faces === undefined ? tree : { ...tree, expose: faces },
  );
}

/** The list that clients see, and the list of the same tools without a face. */
export interface ExposureChange {
  readonly before: Exposure;
  readonly after: Exposure;
}

/** Lists the tools as a client gets them. No server is started: those that the lock does not have are missing. */
export async function measureExposure(settings: Settings): Promise<ExposureChange> {
  const { folder, config } = settings;
  const project = await openAlone({ folder, settings, looksFor: () => false });
  const channel = acceptInside(project);
  const client = new Client(new McpConnection(channel, { limits: defaultLimits }).assumeModern());
  const measure = async (): Promise<Exposure> => {
    const tools = await client.list("tools/list", "tools");
    const bytes = Buffer.byteLength(JSON.stringify(tools));
    return {
      expose: config.expose ?? "default",
      tools: tools.map(({ name }) => String(name)),
      bytes,
      tokens: Math.ceil(bytes / 4),
    };
  };
  try {
    const after = await measure();
    project.hall.server.setFaces(["tools"]);
    return { before: await measure(), after };
  } finally {
    await client.close();
    await project.close();
  }
}
