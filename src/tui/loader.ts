import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { sanitize } from "../base/sanitize.ts";
import { Scope } from "../base/scope.ts";
import type { ServerConnection } from "../client/connection.ts";
import { readInside } from "../workflow/artefacts.ts";
import type { AdminPoller } from "./admin-poller.ts";
import type { TargetConnection } from "./connection.ts";
import type { Dispatch, LoadedPart, TuiEvent } from "./events.ts";
import { explainFailure } from "./failure.ts";
import { readFeatures } from "./features.ts";
import { type ScreenName, stepNames, type ToolView, type TuiState } from "./state.ts";
import { listBranches, listWorktrees } from "./worktrees.ts";

/** Loads what the screens show: files, the server's tools, git. Failures go into the state. */
export interface StateLoader {
  /** Loads what the screen shows; a manual reload (`isAgain`) also replaces loaded tools. */
  screen(screen: ScreenName, isAgain: boolean): Promise<void>;
  features(): Promise<void>;
  worktrees(): Promise<void>;
  tools(): Promise<void>;
  /** The open document. */
  document(): Promise<void>;
}

export interface LoaderOptions {
  /** The project's own folder. */
  readonly project: string;
  readonly connection: TargetConnection;
  readonly adminPoller: AdminPoller | undefined;
  state(): TuiState;
  readonly dispatch: Dispatch;
}

export function createLoader({
  project,
  connection,
  adminPoller,
  state,
  dispatch,
}: LoaderOptions): StateLoader {
  async function load(part: LoadedPart, read: () => Promise<TuiEvent>): Promise<void> {
    if (state()[part].load.kind === "idle") dispatch({ kind: "loading", part });
    try {
      dispatch(await read());
    } catch (error) {
      dispatch({ kind: "load failed", part, failure: explainFailure(error, part) });
    }
  }

  function warn(text: string): void {
    dispatch({ kind: "notice", level: "warning", text });
  }

  const features = coalesce(async () => {
    const { folder } = state().features;
    // A folder without git has no branches.
    const branches = await listBranches(project).catch(() => []);
    const read = async (): Promise<TuiEvent> => {
      const { items, unreadable } = await readFeatures({ folder, branches });
      for (const reason of unreadable) warn(sanitize(reason));
      return { kind: "features", items };
    };
    await Promise.all([load("features", read), worktrees()]);
    if (state().screen === "feature") await document();
  });

  function worktrees(): Promise<void> {
    return load("worktrees", async () => ({
      kind: "worktrees",
      items: await listWorktrees({ folder: project, current: state().features.folder }),
    }));
  }

  const tools = coalesce(() =>
    load("tools", async () => {
      const isHall = state().target.kind === "hall";
      const { isCut, ...list } = await readTools(connection.get(), { isHall });
      if (isCut) warn(`The server offers more than ${toolsMax} tools; the rest is not shown.`);
      return { kind: "tools", ...list };
    }),
  );

  async function document(): Promise<void> {
    const { feature, features: all } = state();
    const found = all.items.find(({ name }) => name === feature?.name);
    if (!found || feature?.document === undefined) return;
    const { name, document: path } = feature;
    try {
      // Only files of the list are read.
      if (!found.files.includes(path)) throw new HallError("NOT_FOUND", `${name} has no ${path}`);
      const place = { root: await realpath(all.folder) };
      const text = await readInside(place, join(found.directory, path));
      if (text === undefined) throw new HallError("NOT_FOUND", `${path} of ${name} is gone`);
      dispatch({ kind: "document", feature: name, path, text: sanitize(text) });
    } catch (error) {
      const failure = explainFailure(error, path);
      dispatch({ kind: "document failed", feature: name, path, failure });
    }
  }

  return {
    features,
    worktrees,
    tools,
    document,
    async screen(screen, isAgain) {
      switch (screen) {
        case "features":
          return features();
        case "feature":
          return document();
        case "tools":
        case "agents":
          return isAgain || state().tools.load.kind !== "loaded" ? tools() : undefined;
        case "servers":
        case "approvals":
        case "stats":
          return adminPoller?.poll(screen);
        case "run":
        case "lisp":
          return;
      }
    },
  };
}

const pauseMs = 200;

/**
 * Runs the work once at a time, and once more if it was requested meanwhile: a server may announce
 * a thousand list changes a second.
 */
function coalesce(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function start(): Promise<void> {
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  }

  async function startAfter(before: Promise<void>): Promise<void> {
    await before;
    await sleep(pauseMs, undefined, { ref: false });
    next = undefined;
    return start();
  }

  return () => {
    if (!running && !next) return start();
    next ??= startAfter(running ?? Promise.resolve());
    return next;
  };
}

/** A server's tools, its agents among them, and the workflow tools it lacks. */
export interface ToolList {
  readonly tools: readonly ToolView[];
  readonly agents: readonly ToolView[];
  readonly missing: readonly string[];
  /** True if the server offers more than `toolsMax`. */
  readonly isCut: boolean;
}

const listMsMax = 60_000;
const pagesMax = 200;
/** The limit a hall has for one server. */
const toolsMax = 10_000;

export async function readTools(
  server: ServerConnection,
  { isHall }: { readonly isHall: boolean },
): Promise<ToolList> {
  const found = await readPages(server, isHall);
  const tools = found.slice(0, toolsMax).map(describeTool);
  // A hall may show names with underscores, and accepts both.
  const names = new Set(tools.map(({ name }) => name.replace("__", ".")));
  return {
    tools,
    agents: tools.filter(isAgent),
    missing: stepNames.map((step) => `speckit.${step}`).filter((name) => !names.has(name)),
    isCut: found.length > toolsMax,
  };
}

function isAgent({ name, inputSchema: { properties } }: ToolView): boolean {
  return name.endsWith("_agent") && isObject(properties) && "task" in properties;
}

async function readPages(
  server: ServerConnection,
  isHall: boolean,
): Promise<readonly JsonObject[]> {
  const scope = new Scope(undefined, listMsMax, "tools/list");
  // Users see every tool, whatever is exposed to models.
  const meta = isHall ? { _meta: { "guildhall/expose": "tools,agents" } } : {};
  const found: JsonObject[] = [];
  try {
    let cursor: unknown;
    for (let page = 0; page < pagesMax; page++) {
      const params = { ...meta, ...(cursor === undefined ? {} : { cursor }) };
      const { tools, nextCursor } = await server.request("tools/list", params, scope);
      for (const tool of Array.isArray(tools) ? tools : []) if (isObject(tool)) found.push(tool);
      cursor = nextCursor;
      if (cursor === undefined || found.length > toolsMax) break;
    }
  } finally {
    scope.close();
  }
  return found.filter(({ name }) => typeof name === "string");
}

function describeTool({
  name,
  title,
  description,
  inputSchema,
  annotations,
}: JsonObject): ToolView {
  return {
    name: String(name),
    title: typeof title === "string" ? sanitize(title) : undefined,
    description: typeof description === "string" ? sanitize(description) : "",
    inputSchema: isObject(inputSchema) ? inputSchema : {},
    isDestructive: isObject(annotations) && annotations.destructiveHint === true,
  };
}
