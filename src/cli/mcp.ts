import { Console } from "node:console";
import { attach } from "../admin/attach.ts";
import { greetHall } from "../admin/client.ts";
import { socketPath } from "../admin/socket.ts";
import { loadCompiler } from "../gateway/schema.ts";
import type { Channel } from "../wire/channel.ts";
import { defaultLimits } from "../wire/limits.ts";
import { createStdioChannel } from "../wire/stdio.ts";
import { drainMs, onStopSignals } from "./process.ts";
import { createHallChannel, openAlone, openShared, type Project, type ProjectOptions, reachHall } from "./project.ts";
import { loadSettings, type SettingsOptions } from "./settings.ts";

export interface McpOptions extends SettingsOptions {
  readonly static?: boolean;
  readonly alone?: boolean;
}

/** Serves one client on stdin and stdout: as the project's hall, or through the one that already runs. */
export async function runMcp(options: McpOptions): Promise<void> {
  const { stdin, stdout } = process;
  // stdout belongs to the protocol, whatever a library or a tool prints.
  Object.defineProperty(process, "stdout", { value: process.stderr });
  globalThis.console = new Console(process.stderr);
  const settings = await loadSettings(options, "warn");
  const near = createStdioChannel(stdin, stdout, defaultLimits);
  const projectOptions: ProjectOptions = { folder: process.cwd(), settings, isStatic: options.static ?? false };
  // Faces and static lists belong to a hall, so a client that wants its own gets a hall of its own.
  if (options.alone || options.static || options.expose !== undefined) {
    await serveHere(near, await openAlone(projectOptions));
    return;
  }
  const path = await socketPath(projectOptions.folder);
  const socket = await greetHall(path, "mcp");
  const project = socket ? undefined : await openShared(path, projectOptions);
  if (project) await serveHere(near, project);
  else await serveThrough(near, socket && createHallChannel(socket), projectOptions);
}

/** This process is the hall: nothing stands between it and its client. */
async function serveHere(near: Channel, project: Project): Promise<void> {
  const connection = project.hall.server.accept(near);
  let closing: Promise<void> | undefined;
  const stop = onStopSignals(
    () => {
      closing = project.close(drainMs);
    },
    () => void project.close(0),
  );
  // Off the first call's path, on nobody's: while the client reads the answer to its handshake.
  setTimeout(() => void loadCompiler(), 50).unref();
  await connection.closed;
  // Others may be attached, with calls that run.
  await (closing ?? project.close(drainMs));
  stop();
}

/** Another process is the hall; when it ends, this one reaches the next, or becomes it. */
async function serveThrough(near: Channel, first: Channel | undefined, options: ProjectOptions): Promise<void> {
  let ready: Channel | undefined = first;
  let project: Project | undefined;
  const stop = onStopSignals(
    () => void near.close(),
    () => void near.close({ now: true }),
  );
  await attach(near, {
    limits: defaultLimits,
    async connect() {
      const channel = ready;
      ready = undefined;
      if (channel) return channel;
      const reached = await reachHall(options);
      project = reached.project;
      return reached.channel;
    },
  });
  stop();
  await project?.close(drainMs);
}
