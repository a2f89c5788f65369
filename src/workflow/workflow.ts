import { existsSync } from "node:fs";
import { rmdir, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { HallError, messageOf } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import { startPulse, tellAge } from "../base/pulse.ts";
import type { DocumentStore } from "../store/store.ts";
import type { CallContext, ListKind, Outcome, Tool, Toolkit } from "../tool.ts";
import { explainDisk, openArtefactMemory } from "./artefacts.ts";
import { findClaim, usualClaims } from "./claim.ts";
import { findActive, listFeatureNames, readFeature } from "./feature.ts";
import { createFeatureResources, watchSpecs } from "./feature-resources.ts";
import { findPlace, type Place } from "./place.ts";
import { createStepPrompts } from "./prompts.ts";
import { beginRun, type RunState } from "./run.ts";
import type { Step, StepAnswer, StepSettings } from "./step.ts";
import { listWorkflowTools, type StepName, stepNames } from "./tool-list.ts";
import type { Writer } from "./writer.ts";

export interface WorkflowOptions {
  /** The project's folder. */
  readonly folder: string;
  /** Folders that specs may lie in. Default: the project's. */
  readonly roots?: readonly string[];
  /** Commands in tasks may run, each with a person's yes. Default false. */
  readonly commands?: boolean;
  /** The agent that gets the tasks of `implement`. Default: the caller does them. */
  readonly agent?: string | undefined;
  /** Where runs mark what they work on. Default: in the user's data folder. */
  readonly claims?: string;
  /** Writes with a model; undefined where there is none. Default: there is none. */
  writer?(context: CallContext): Promise<Writer | undefined>;
  readonly shelf?: DocumentStore | undefined;
  readonly secrets?: Secrets | undefined;
  now?(): Date;
  /** How often what is silent gives a sign of life. Default 2,000. */
  readonly pulseMs?: number | undefined;
}

/** Spec-driven work: a feature from a description to done tasks, in files that people read and edit. */
export function createWorkflow({
  folder,
  roots = [folder],
  commands = false,
  agent,
  claims = usualClaims(),
  writer,
  shelf,
  secrets,
  now = () => new Date(),
  pulseMs,
}: WorkflowOptions): Toolkit {
  const listeners = new Set<(kind: ListKind) => void>();
  const tell = (kind: ListKind): void => {
    for (const listener of listeners) listener(kind);
  };
  const settings: StepSettings = {
    commands,
    agent,
    now,
    pulseMs,
    writer: async (context) => writer?.(context),
  };
  const watching = watchSpecs(folder, () => tell("resources"));
  let hasSpecs = existsSync(join(folder, ".specify"));

  async function runStep(name: StepName, args: JsonObject, context: CallContext): Promise<Outcome> {
    const step = await loadStep(name);
    const { place, warning, isNew } = await locate(name, args);
    // A folder that got nothing is nobody's feature.
    const forget = async (): Promise<void> => {
      if (isNew) await rmdir(place.path).catch(() => {});
    };
    const run = await beginRun({
      place,
      step: name,
      args,
      context,
      folder,
      claims,
      shelf,
      secrets,
      now,
      isReader: name === "analyze",
    }).catch(async (error: unknown) => {
      await forget();
      throw error;
    });
    if (warning !== undefined) run.note(warning);
    if (existsSync(join(place.project, ".specify", "extensions.yml")))
      run.note("hooks in .specify/extensions.yml are left alone: they are not run");
    const memory = openArtefactMemory(
      join(folder, ".guildhall", "workflow", `${basename(place.path)}.json`),
    );
    try {
      const answer = await step({ place, args, context, run, memory, settings });
      await run.end(answer.isPaused ? "paused" : "completed", answer.text.split("\n")[0] ?? "");
      return tellAnswer(answer, { name, place, run, warning });
    } catch (error) {
      const state: RunState = context.scope.cancelled ? "cancelled" : "failed";
      await forget();
      await run.end(state, messageOf(error)).catch(() => {});
      throw error;
    } finally {
      watching.renew();
      tell("resources");
      if (!hasSpecs && existsSync(join(folder, ".specify"))) {
        hasSpecs = true;
        tell("tools");
      }
    }
  }

  async function locate(
    name: StepName,
    args: JsonObject,
  ): Promise<{
    readonly place: Place;
    readonly warning?: string | undefined;
    readonly isNew?: boolean;
  }> {
    if (name === "specify")
      return { ...(await (await import("./specify.ts")).placeFeature(args, roots, now())) };
    if (name === "constitution") {
      const place = await findPlace(
        typeof args.spec_directory === "string" ? args.spec_directory : folder,
        roots,
      );
      // A run is about the whole project.
      return { place: { ...place, path: place.project } };
    }
    return { place: await findExisting(String(args.spec_directory)) };
  }

  async function findExisting(given: string): Promise<Place> {
    const place = await findPlace(given, roots);
    const found = await stat(place.path).catch(() => undefined);
    if (found?.isDirectory()) return place;
    throw new HallError("EXECUTION", `${place.path} does not exist: run speckit.specify first`, {
      hint: "Call speckit.specify; it makes the folder.",
      details: { step: "specify", features: await listFeatureNames(place.project) },
    });
  }

  async function tellStatus(args: JsonObject): Promise<Outcome> {
    const isOne = typeof args.spec_directory === "string" && args.spec_directory !== "";
    const place = isOne
      ? await findExisting(String(args.spec_directory))
      : await findPlace(folder, roots);
    const active = await findActive(place);
    const paths =
      isOne && basename(place.path) !== "specs" && place.path !== place.project
        ? [place.path]
        : (await listFeatureNames(place.project)).map((name) => join(place.project, "specs", name));
    const features = await Promise.all(
      paths.map(async (path) => {
        const feature = await readFeature({ ...place, path });
        const run = await findClaim(path, claims);
        return {
          ...feature,
          isActive: path === active,
          ...(run
            ? {
                run: {
                  id: run.run,
                  step: run.step,
                  startedAt: run.startedAt,
                  isAtWork: run.isAtWork,
                  arguments: run.arguments,
                },
              }
            : {}),
        };
      }),
    );
    const lines = features.map(
      ({ name, phase, tasks, isActive, run }) =>
        `- ${name}${isActive ? " (active)" : ""}: ${phase === "done" ? "done" : `next is ${phase}`}${tasks ? `, ${tasks.done} of ${tasks.total} tasks done` : ""}${run ? `, ${run.step} ${run.isAtWork ? "is running" : "was interrupted"}` : ""}`,
    );
    return {
      content: [
        {
          type: "text",
          text: lines.join("\n") || "There are no features yet: speckit.specify makes the first.",
        },
      ],
      structuredContent: { project: place.project, active: active ?? null, features },
    };
  }

  async function call({ name }: Tool, args: JsonObject, context: CallContext): Promise<Outcome> {
    try {
      if (name === "status") return await tellStatus(args);
      if (name === "command" && commands) return await callCommand(args, context);
      const step = stepNames.find((known) => known === name);
      if (step) return await runStep(step, args, context);
    } catch (error) {
      throw explainDisk(error, folder);
    }
    throw new HallError("NOT_FOUND", `speckit has no tool named "${name}"`);
  }

  async function callCommand(args: JsonObject, context: CallContext): Promise<Outcome> {
    const place = await findExisting(String(args.spec_directory));
    const argv = (Array.isArray(args.argv) ? args.argv : []).map(String);
    const line = argv.join(" ");
    const [{ runCommand }, { createCommandOutput }] = await Promise.all([
      import("./command.ts"),
      import("./command-output.ts"),
    ]);
    const output = createCommandOutput({
      told: (stream, lines) =>
        context.log(stream === "stdout" ? "info" : "notice", lines, `speckit.command.${stream}`),
      scrub: (text) => secrets?.scrub(text) ?? text,
    });
    context.progress({ progress: 0, message: line });
    const stop = startPulse(
      (seconds) => context.progress({ progress: seconds, message: tellAge(line, seconds) }),
      pulseMs,
    );
    const result = await runCommand(argv, {
      cwd: place.project,
      scope: context.scope,
      output,
    }).finally(stop);
    const isError = result.code !== 0;
    const head = `${line} ${result.signal ? `ended by ${result.signal}` : `exited with code ${result.code}`}`;
    const text = [
      head,
      result.stdout.trim() && `stdout:\n${result.stdout.trim()}`,
      result.stderr.trim() && `stderr:\n${result.stderr.trim()}`,
    ]
      .filter(Boolean)
      .join("\n\n");
    return {
      content: [{ type: "text", text }],
      structuredContent: { ...result },
      ...(isError ? { isError: true } : {}),
    };
  }

  return {
    id: "speckit",
    description: "Spec-driven work on a feature: specify, clarify, plan, tasks, implement",
    category: "WORKFLOW",
    list: async () => listWorkflowTools({ commands }),
    call,
    health: async () => ({ state: "available" }),
    besideAgents: () => hasSpecs,
    resources: createFeatureResources({ folder, roots }),
    prompts: createStepPrompts(),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      watching.close();
      listeners.clear();
    },
  };
}

/** Loaded when it is called: a hall that is never asked for a plan never reads how one is made. */
async function loadStep(name: StepName): Promise<Step> {
  switch (name) {
    case "specify":
      return (await import("./specify.ts")).specify;
    case "clarify":
      return (await import("./clarify.ts")).clarify;
    case "plan":
      return (await import("./plan.ts")).plan;
    case "tasks":
      return (await import("./break-down.ts")).breakDown;
    case "implement":
      return (await import("./implement.ts")).implement;
    case "constitution":
      return (await import("./constitution.ts")).constitution;
    case "checklist":
      return (await import("./checklist.ts")).checklist;
    case "analyze":
      return (await import("./analyze.ts")).analyze;
  }
}

interface Telling {
  readonly name: StepName;
  readonly place: Place;
  readonly run: { readonly id: string; readonly log: string };
  readonly warning: string | undefined;
}

function tellAnswer(answer: StepAnswer, { name, place, run, warning }: Telling): Outcome {
  const notes = [...(warning === undefined ? [] : [warning]), ...(answer.notes ?? [])];
  const text = [
    answer.text,
    ...notes.map((note) => `Note: ${note}`),
    answer.next === undefined ? "" : `Next: speckit.${answer.next}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
  return {
    content: [{ type: "text", text }],
    structuredContent: {
      step: name,
      run: run.id,
      log: run.log,
      feature: basename(place.path),
      directory: place.path,
      folder: relative(place.project, place.path),
      state: answer.isPaused ? "paused" : "completed",
      files: answer.files,
      next: answer.next ?? null,
      notes,
      ...(isObject(answer.details) ? answer.details : {}),
    },
  };
}
