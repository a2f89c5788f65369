import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../base/errors.ts";
import { makeHarmless } from "../base/harmless.ts";
import { readInside } from "../workflow/artefacts.ts";
import type { Connection } from "./connection.ts";
import type { ControlRoom } from "./control-room.ts";
import type { LoadedPart, TuiEvent } from "./events.ts";
import { explainFailure } from "./failure.ts";
import { readFeatures } from "./features.ts";
import type { ScreenName, TuiState } from "./state.ts";
import { readTools, toolsMax } from "./tool-list.ts";
import { listBranches, listWorktrees } from "./worktrees.ts";

/** Reads what screens show and others hold: files, the server, git, the hall. Nothing here throws: a failure stands in the part that could not be read. */
export interface Reader {
  /** A screen that comes up reads what it has not read yet; a person who wants it again (`isAgain`) gets it again. */
  screen(screen: ScreenName, isAgain: boolean): Promise<void>;
  features(): Promise<void>;
  worktrees(): Promise<void>;
  tools(): Promise<void>;
  /** The document that is open. */
  document(): Promise<void>;
}

export interface ReaderOptions {
  /** The project's own folder. */
  readonly project: string;
  readonly connection: Connection;
  readonly controlRoom: ControlRoom | undefined;
  state(): TuiState;
  tell(event: TuiEvent): void;
}

export function createReader({
  project,
  connection,
  controlRoom,
  state,
  tell,
}: ReaderOptions): Reader {
  async function load(part: LoadedPart, read: () => Promise<TuiEvent>): Promise<void> {
    if (state()[part].load.kind === "idle") tell({ kind: "loading", part });
    try {
      tell(await read());
    } catch (error) {
      tell({ kind: "load failed", part, failure: explainFailure(error, part) });
    }
  }

  async function features(): Promise<void> {
    const { folder } = state().features;
    // A folder without git has no branches.
    const branches = await listBranches(project).catch(() => []);
    const read = async (): Promise<TuiEvent> => {
      const { items, unreadable } = await readFeatures({ folder, branches });
      for (const reason of unreadable)
        tell({ kind: "notice", level: "warning", text: makeHarmless(reason) });
      return { kind: "features", items };
    };
    await Promise.all([load("features", read), worktrees()]);
    if (state().screen === "feature") await document();
  }

  function worktrees(): Promise<void> {
    return load("worktrees", async () => ({
      kind: "worktrees",
      items: await listWorktrees({ folder: project, current: state().features.folder }),
    }));
  }

  function tools(): Promise<void> {
    return load("tools", async () => {
      const { isCut, ...list } = await readTools(connection.get(), {
        isHall: state().target.kind === "hall",
      });
      if (isCut)
        tell({
          kind: "notice",
          level: "warning",
          text: `The server offers more than ${toolsMax} tools: the rest is not shown.`,
        });
      return { kind: "tools", ...list };
    });
  }

  async function document(): Promise<void> {
    const { feature, features: all } = state();
    const found = all.items.find(({ name }) => name === feature?.name);
    if (!found || feature?.document === undefined) return;
    const { name, document: path } = feature;
    try {
      // The list names the files; nothing else is read.
      if (!found.files.includes(path)) throw new HallError("NOT_FOUND", `${name} has no ${path}`);
      const text = await readInside(
        { root: await realpath(all.folder) },
        join(found.directory, path),
      );
      if (text === undefined) throw new HallError("NOT_FOUND", `${name} has no ${path} any more`);
      tell({ kind: "document", feature: name, path, text: makeHarmless(text) });
    } catch (error) {
      tell({ kind: "document failed", feature: name, path, failure: explainFailure(error, path) });
    }
  }

  const readFeaturesOnce = oneAtATime(features);
  const readToolsOnce = oneAtATime(tools);
  return {
    features: readFeaturesOnce,
    worktrees,
    tools: readToolsOnce,
    document,
    async screen(screen, isAgain) {
      switch (screen) {
        case "features":
          return readFeaturesOnce();
        case "feature":
          return document();
        case "tools":
        case "agents":
          return isAgain || state().tools.load.kind !== "loaded" ? readToolsOnce() : undefined;
        case "servers":
        case "approvals":
        case "stats":
          return controlRoom?.poll(screen);
        case "run":
        case "lisp":
          return;
      }
    },
  };
}

const pauseMs = 200;

/** However often it is wanted, it is done once at a time, and once more after that: a server may say a thousand times a second that its lists have changed. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
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
