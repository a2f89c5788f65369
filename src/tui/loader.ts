import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HallError, messageOf } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { createOneAtATime } from "../base/one-at-a-time.ts";
import { sanitize, wordOf } from "../base/sanitize.ts";
import { Scope } from "../base/scope.ts";
import type { ServerConnection } from "../client/connection.ts";
import type { AdminClient } from "../hall/admin-client.ts";
import { dottedNames } from "../registry/shown-names.ts";
import type { ListKind } from "../tool.ts";
import { findPlace, readInside } from "../workflow/artefacts.ts";
import { findClaim } from "../workflow/claim.ts";
import { findActive, listFeatureNames, readFeature } from "../workflow/feature.ts";
import { nameFeature, shortNameOf } from "../workflow/feature-name.ts";
import type { TargetConnection } from "./connection.ts";
import type { Dispatch, LoadedPart, TuiEvent } from "./events.ts";
import { explainFailure } from "./failure.ts";
import type { FeatureView, ScreenName, ToolView, TuiState } from "./state.ts";
import { allSteps } from "./steps.ts";

interface LoaderOptions {
  /** The project's own folder. */
  readonly project: string;
  readonly connection: TargetConnection;
  readonly admin: AdminClient | undefined;
  state(): TuiState;
  readonly dispatch: Dispatch;
}

/** A server may announce a thousand list changes a second. */
const changePauseMs = 200;

/** Loads what the screens show: files, the server's tools, the hall. Failures go into the state. */
export class StateLoader {
  readonly #options: LoaderOptions;
  readonly #loads = createOneAtATime((part: "features" | "tools") =>
    part === "tools" ? this.#loadTools() : this.#loadFeatures(),
  );
  readonly #changes = createOneAtATime(async (part: "features" | "tools") => {
    await this.#loads.run(part);
    await sleep(changePauseMs, undefined, { ref: false });
  });
  #isPolling = false;

  constructor(options: LoaderOptions) {
    this.#options = options;
  }

  features(): Promise<void> {
    return this.#loads.run("features");
  }

  tools(): Promise<void> {
    return this.#loads.run("tools");
  }

  /** The server announced that one of its lists has changed. */
  async onListChanged(kind: ListKind): Promise<void> {
    if (kind === "tools") await this.#changes.run("tools");
    if (kind === "resources") await this.#changes.run("features");
  }

  /** Loads what the screen shows; a manual reload (`isAgain`) also replaces loaded tools. */
  async screen(screen: ScreenName, isAgain: boolean): Promise<void> {
    switch (screen) {
      case "features":
        return this.features();
      case "feature":
        return this.document();
      case "tools":
      case "agents":
        return isAgain || this.#options.state().tools.load.kind !== "loaded"
          ? this.tools()
          : undefined;
      case "servers":
      case "approvals":
        return this.poll(screen);
      case "run":
        return;
    }
  }

  /** Asks the hall for what the screen shows, and for approvals, which a caller may be waiting for. */
  async poll(screen: ScreenName): Promise<void> {
    // Skip a turn while a slow hall has not answered the last one.
    if (this.#isPolling) return;
    this.#isPolling = true;
    await this.approvals();
    if (screen === "servers") await this.servers();
    this.#isPolling = false;
  }

  approvals(): Promise<void> {
    return this.#loadFromHall("approvals", async (admin) => {
      const { pending } = await admin.ask("approvals", {});
      return { kind: "approvals", pending };
    });
  }

  servers(): Promise<void> {
    return this.#loadFromHall("servers", async (admin) => {
      return { kind: "status", status: await admin.ask("status", {}) };
    });
  }

  async #loadFromHall(
    part: LoadedPart,
    read: (admin: AdminClient) => Promise<TuiEvent>,
  ): Promise<void> {
    const { admin } = this.#options;
    if (admin) await this.#load(part, () => read(admin));
  }

  /** The open document. */
  async document(): Promise<void> {
    const { state, dispatch } = this.#options;
    const { feature, features } = state();
    const found = features.items.find(({ name }) => name === feature?.name);
    if (!found || feature?.document === undefined) return;
    const { name, document: path } = feature;
    try {
      // Only files of the list are read.
      if (!found.files.includes(path)) throw new HallError("NOT_FOUND", `${name} has no ${path}`);
      const place = { root: await realpath(this.#options.project) };
      const text = await readInside(place, join(found.directory, path));
      if (text === undefined) throw new HallError("NOT_FOUND", `${path} of ${name} is gone`);
      dispatch({ kind: "document", feature: name, path, text: sanitize(text) });
    } catch (error) {
      const failure = explainFailure(error, path);
      dispatch({ kind: "document failed", feature: name, path, failure });
    }
  }

  async #loadFeatures(): Promise<void> {
    const { project, state } = this.#options;
    await this.#load("features", async () => {
      const { items, unreadable } = await readFeatures(project);
      for (const reason of unreadable) this.#warn(sanitize(reason));
      return { kind: "features", items };
    });
    if (state().screen === "feature") await this.document();
  }

  #loadTools(): Promise<void> {
    const { connection } = this.#options;
    return this.#load("tools", async () => {
      const { isCut, ...list } = await readTools(connection.get());
      if (isCut)
        this.#warn(`The server offers more than ${toolsMax} tools; the rest is not shown.`);
      return { kind: "tools", ...list };
    });
  }

  async #load(part: LoadedPart, read: () => Promise<TuiEvent>): Promise<void> {
    const { dispatch } = this.#options;
    try {
      dispatch(await read());
    } catch (error) {
      dispatch({ kind: "load failed", part, failure: explainFailure(error, part) });
    }
  }

  #warn(text: string): void {
    this.#options.dispatch({ kind: "notice", level: "warning", text });
  }
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

export async function readTools(server: ServerConnection): Promise<ToolList> {
  const found = await readPages(server);
  const tools = found.slice(0, toolsMax).map(describeTool);
  // A hall may show names with underscores, and accepts both.
  const names = new Set(tools.map(({ name }) => name.replace("__", ".")));
  return {
    tools,
    agents: tools.filter(isAgent),
    missing: allSteps.map((step) => `speckit.${step}`).filter((name) => !names.has(name)),
    isCut: found.length > toolsMax,
  };
}

function isAgent({ name, inputSchema: { properties } }: ToolView): boolean {
  return name.endsWith("_agent") && isObject(properties) && "task" in properties;
}

async function readPages(server: ServerConnection): Promise<readonly JsonObject[]> {
  const scope = new Scope(undefined, listMsMax, "tools/list");
  // Users see every tool, whatever a hall exposes to models. Other servers ignore this.
  const meta = { _meta: { "guildhall/expose": "tools,agents", ...dottedNames } };
  const found: JsonObject[] = [];
  try {
    let params: JsonObject = meta;
    for (let page = 0; page < pagesMax && found.length <= toolsMax; page++) {
      const { tools, nextCursor: cursor } = await server.request("tools/list", params, scope);
      for (const tool of Array.isArray(tools) ? tools : [])
        if (isObject(tool) && typeof tool.name === "string") found.push(tool);
      if (cursor === undefined) break;
      params = { ...meta, cursor };
    }
  } finally {
    scope.close();
  }
  return found;
}

function describeTool(tool: JsonObject): ToolView {
  const { title, inputSchema, annotations } = tool;
  return {
    name: String(tool.name),
    title: typeof title === "string" ? sanitize(title) : undefined,
    description: sanitize(wordOf(tool.description, "")),
    inputSchema: isObject(inputSchema) ? inputSchema : {},
    isDestructive: isObject(annotations) && annotations.destructiveHint === true,
  };
}

/** The features of a project, read from its files. */
interface FeatureList {
  readonly items: readonly FeatureView[];
  /** Why other features are missing: too large, or behind a link. */
  readonly unreadable: readonly string[];
}

export async function readFeatures(folder: string): Promise<FeatureList> {
  const place = await findPlace(folder, [folder]);
  const active = await findActive(place).catch(() => undefined);
  const names = await listFeatureNames(place.project);
  const describe = async (name: string): Promise<FeatureView> => {
    const path = join(place.project, "specs", name);
    const [feature, run] = await Promise.all([readFeature({ ...place, path }), findClaim(path)]);
    return {
      ...feature,
      number: /^(\d{8}-\d{6}|\d+)/.exec(name)?.[0] ?? "",
      isActive: path === active,
      run: run && { step: run.step, isAtWork: run.isAtWork, arguments: run.arguments },
    };
  };
  const read = await Promise.all(
    names.map((name) =>
      describe(name).catch((error: unknown) => `cannot read ${name}: ${messageOf(error)}`),
    ),
  );
  return {
    items: read.filter((one) => typeof one !== "string"),
    unreadable: read.filter((one) => typeof one === "string"),
  };
}

/** The folder of a new feature, for servers that do not choose it themselves. */
export async function placeNewFeature(
  folder: string,
  description: string,
  now: Date,
): Promise<string> {
  const shortName = shortNameOf(description);
  const { name } = await nameFeature({ root: folder, project: folder }, now, { shortName });
  return join(folder, "specs", name);
}
