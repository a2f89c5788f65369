import { Console } from "node:console";
import { isStartedByHall } from "../../base/processes.ts";
import { createHallChannel, greetHall } from "../../hall/admin-client.ts";
import { attach } from "../../hall/attach.ts";
import type { Project, ProjectOptions } from "../../hall/project.ts";
import type { SettingsOptions } from "../../hall/settings.ts";
import { socketPath } from "../../hall/socket.ts";
import { noAgents } from "../../server/instructions.ts";
import { localRights, rightsBelowHall, within } from "../../server/rights.ts";
import { type Channel, defaultLimits } from "../../wire/channel.ts";
import { createStdioChannel } from "../../wire/stdio.ts";
import { drainMs, onStopSignals } from "../exit.ts";

export interface McpOptions extends Omit<SettingsOptions, "folder"> {
  readonly static?: boolean;
  readonly alone?: boolean;
  readonly preset?: string;
}

/** Serves one client on stdin and stdout: as the project's hall, or through the running one. */
export async function runMcp(options: McpOptions): Promise<void> {
  const { stdin, stdout } = process;
  if (stdin.isTTY)
    process.stderr.write(
      "guildhall mcp waits for an MCP client on stdin; clients start it themselves. To open a hall for HTTP clients, run `guildhall serve`. Ctrl+C ends it.\n",
    );
  // stdout carries only the protocol: libraries and tools print to stderr.
  Object.defineProperty(process, "stdout", { value: process.stderr });
  globalThis.console = new Console(process.stderr);
  const near = createStdioChannel(stdin, stdout, defaultLimits);
  const isBelow = await isStartedByHall();
  // Faces, static lists and the rights of a client below a hall need a hall of their own.
  const isAlone = isBelow || options.alone || options.static || options.expose !== undefined;
  const { preset } = options;
  if (preset !== undefined) await requirePreset(preset, options);
  const path = await socketPath(process.cwd());
  const socket = isAlone
    ? undefined
    : await greetHall(path, "mcp", { preset }).catch(() => undefined);
  if (socket) await serveThrough(near, createHallChannel(socket), options);
  else await serveAsHall(near, isAlone ? undefined : path, { ...options, isBelow });
}

/** No hall is running: this process becomes the hall, unless another process was faster. */
async function serveAsHall(
  near: Channel,
  path: string | undefined,
  options: McpOptions & { readonly isBelow: boolean },
): Promise<void> {
  const { openAlone, openShared } = await import("../../hall/project.ts");
  const projectOptions = await loadProject(options);
  const project =
    path === undefined ? await openAlone(projectOptions) : await openShared(path, projectOptions);
  if (project) await serveHere(near, project, options);
  else await serveThrough(near, undefined, options);
}

/** Loaded lazily: a process that only relays frames does not need it. */
async function loadProject(options: McpOptions): Promise<ProjectOptions> {
  const { loadSettings } = await import("../../hall/settings.ts");
  return {
    folder: process.cwd(),
    settings: await loadSettings(options, "warn"),
    preset: options.preset,
    isStatic: options.static ?? false,
  };
}

/** Throws NOT_FOUND: a running hall could only hang up. */
async function requirePreset(preset: string, options: McpOptions): Promise<void> {
  const { loadSettings, presetsOf } = await import("../../hall/settings.ts");
  const { config } = await loadSettings(options, "warn");
  within(preset, localRights, presetsOf(config));
}

/** This process is the hall and serves its client directly. */
async function serveHere(
  near: Channel,
  project: Project,
  { isBelow, preset }: Pick<McpOptions, "preset"> & { readonly isBelow: boolean },
): Promise<void> {
  const { server } = project.hall;
  if (server.listFace().length === 0) process.stderr.write(`${noAgents}\n`);
  const usual = isBelow ? rightsBelowHall : localRights;
  const connection = server.accept(near, { rights: within(preset, usual, server.presets) });
  let closing: Promise<void> | undefined;
  const stop = onStopSignals(
    () => {
      closing = project.close(drainMs);
    },
    () => void project.close(0),
  );
  await connection.closed;
  // Other clients may still have running calls.
  await (closing ?? project.close(drainMs));
  stop();
}

/** Another process is the hall; when it ends, this one connects to the next, or becomes it. */
async function serveThrough(
  near: Channel,
  first: Channel | undefined,
  options: McpOptions,
): Promise<void> {
  let ready: Channel | undefined = first;
  let project: Project | undefined;
  const stop = onStopSignals(
    () => {
      // As if the client had closed its end: the hall answers what runs.
      process.stdin.destroy();
      setTimeout(() => void near.close(), drainMs).unref();
    },
    () => void near.close({ now: true }),
  );
  await attach(near, {
    limits: defaultLimits,
    async connect() {
      const channel = ready;
      ready = undefined;
      if (channel) return channel;
      const { reachOrBecomeHall } = await import("../../hall/project.ts");
      const reached = await reachOrBecomeHall(await loadProject(options));
      project = reached.project;
      return reached.channel;
    },
  });
  stop();
  await project?.close(drainMs);
}
