import { Console } from "node:console";
import { HallError } from "../../base/errors.ts";
import { createHallChannel, greetHall } from "../../hall/admin-client.ts";
import { attach } from "../../hall/attach.ts";
import type { Project, ProjectOptions } from "../../hall/project.ts";
import type { SettingsOptions } from "../../hall/settings.ts";
import { socketPath } from "../../hall/socket.ts";
import type { Channel } from "../../wire/channel.ts";
import { defaultLimits } from "../../wire/limits.ts";
import { createStdioChannel } from "../../wire/stdio.ts";
import { drainMs, onStopSignals } from "../process.ts";

export interface McpOptions extends SettingsOptions {
  readonly static?: boolean;
  readonly alone?: boolean;
  /** The project's. Default: the one we were started in. */
  readonly folder?: string;
}

const quietMs = 500;

/** Serves one client on stdin and stdout: as the project's hall, or through the one that already runs. */
export async function runMcp(options: McpOptions): Promise<void> {
  if (options.folder !== undefined) enter(options.folder);
  const { stdin, stdout } = process;
  // stdout belongs to the protocol, whatever a library or a tool prints.
  Object.defineProperty(process, "stdout", { value: process.stderr });
  globalThis.console = new Console(process.stderr);
  const near = createStdioChannel(stdin, stdout, defaultLimits);
  // Faces and static lists belong to a hall, so a client that wants its own gets a hall of its own.
  const isAlone = options.alone || options.static || options.expose !== undefined;
  const path = await socketPath(process.cwd());
  const socket = isAlone ? undefined : await greetHall(path, "mcp").catch(() => undefined);
  if (socket) await serveThrough(near, createHallChannel(socket), options);
  else await serveAsHall(near, isAlone ? undefined : path, options);
}

/** Throws NOT_FOUND. */
function enter(folder: string): void {
  try {
    process.chdir(folder);
  } catch (cause) {
    throw new HallError(
      "NOT_FOUND",
      `the folder ${folder} cannot be entered (${(cause as NodeJS.ErrnoException).code})`,
      {
        hint: "Give --folder the project's folder.",
        cause,
      },
    );
  }
}

/** Nobody is there to attach to: this process becomes the hall, unless another was faster. */
async function serveAsHall(
  near: Channel,
  path: string | undefined,
  options: McpOptions,
): Promise<void> {
  const { openAlone, openShared } = await import("../../hall/project.ts");
  const projectOptions = await loadProject(options);
  const project =
    path === undefined ? await openAlone(projectOptions) : await openShared(path, projectOptions);
  if (project) await serveHere(near, project);
  else await serveThrough(near, undefined, options);
}

/** What a hall needs and a process that only passes frames does not: loaded when it comes to that. */
async function loadProject(options: McpOptions): Promise<ProjectOptions> {
  const { loadSettings } = await import("../../hall/settings.ts");
  return {
    folder: process.cwd(),
    settings: await loadSettings(options, "warn"),
    isStatic: options.static ?? false,
  };
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
  // Off the first call's path, on nobody's: when the client has its lists, and before a model has read them.
  setTimeout(
    () => void import("../../gateway/schema.ts").then(({ loadCompiler }) => loadCompiler()),
    quietMs,
  ).unref();
  await connection.closed;
  // Others may be attached, with calls that run.
  await (closing ?? project.close(drainMs));
  stop();
}

/** Another process is the hall; when it ends, this one reaches the next, or becomes it. */
async function serveThrough(
  near: Channel,
  first: Channel | undefined,
  options: McpOptions,
): Promise<void> {
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
      const { reachHall } = await import("../../hall/project.ts");
      const reached = await reachHall(await loadProject(options));
      project = reached.project;
      return reached.channel;
    },
  });
  stop();
  await project?.close(drainMs);
}
