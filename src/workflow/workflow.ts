import { existsSync } from "node:fs";
import { rmdir, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { type Advice, adviceForModel, contentForModel } from "../base/advice.ts";
import { HallError, messageOf } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import { startHeartbeat } from "../base/timing.ts";
import type { DocumentStore } from "../store/store.ts";
import type { CallContext, ListKind, Outcome, Tool, Toolkit } from "../tool.ts";
import { explainDisk, type FeaturePlace, findPlace } from "./artefacts.ts";
import { type Claim, defaultClaims, findClaim } from "./claim.ts";
import {
  createFeatureResources,
  type Feature,
  findActive,
  listFeatureNames,
  readFeature,
  watchSpecs,
} from "./feature.ts";
import { placeFeature, type StepPlace } from "./feature-name.ts";
import {
  beginRun,
  type StepAnswer,
  type StepFunction,
  type StepRun,
  type StepSettings,
} from "./step.ts";
import { createStepPrompts, listWorkflowTools, type StepName, stepNames } from "./tool-list.ts";
import type { ModelWriter } from "./writer.ts";

export interface WorkflowOptions {
  /** The project's folder. */
  readonly folder: string;
  /** Folders that may contain specs. Default: the project's folder. */
  readonly roots?: readonly string[];
  /** Tasks may run commands; each one needs approval. Default false. */
  readonly commands?: boolean;
  /** The agent that does the tasks of `implement`. Default: the caller does them. */
  readonly agent?: string | undefined;
  /** Listed also before `.specify` exists. Default true. */
  isListed?(): boolean;
  /** The folder of claims. Default: in the user's data folder. */
  readonly claims?: string;
  /** The model that writes. Default: drafts without a model. */
  writer?(context: CallContext): Promise<ModelWriter | undefined>;
  readonly documents?: DocumentStore | undefined;
  readonly secrets?: Secrets | undefined;
  now?(): Date;
  /** How often silent work reports that it is alive. Default 2,000. */
  readonly pulseMs?: number | undefined;
}

/** Spec-driven development: from a description to finished tasks, in files that people read and edit. */
export function createWorkflow(options: WorkflowOptions): Toolkit {
  return new Workflow(options);
}

class Workflow implements Toolkit {
  readonly id = "speckit";
  readonly keepsDot = true;
  readonly description = "Spec-driven development: specify, clarify, plan, tasks, implement";
  readonly category = "WORKFLOW";
  readonly resources: NonNullable<Toolkit["resources"]>;
  readonly prompts = createStepPrompts();
  readonly #options: WorkflowOptions;
  readonly #roots: readonly string[];
  readonly #claims: string;
  readonly #settings: StepSettings;
  readonly #listeners = new Set<(kind: ListKind) => void>();
  readonly #watch: ReturnType<typeof watchSpecs>;
  #hasSpecs: boolean;

  constructor(options: WorkflowOptions) {
    const { folder, roots = [folder], claims = defaultClaims(), now = () => new Date() } = options;
    this.#options = options;
    this.#roots = roots;
    this.#claims = claims;
    this.#settings = {
      commands: options.commands ?? false,
      agent: options.agent,
      now,
      pulseMs: options.pulseMs,
      writer: async (context) => options.writer?.(context),
    };
    this.resources = createFeatureResources({ folder, roots });
    this.#watch = watchSpecs(folder, () => this.#notify("resources"));
    this.#hasSpecs = existsSync(join(folder, ".specify"));
  }

  async list(): Promise<readonly Tool[]> {
    return listWorkflowTools({ commands: this.#settings.commands });
  }

  async call({ name }: Tool, args: JsonObject, context: CallContext): Promise<Outcome> {
    try {
      if (name === "status") return await this.#describeStatus(args);
      if (name === "command" && this.#settings.commands)
        return await this.#runCommand(args, context);
      const step = stepNames.find((known) => known === name);
      if (step) return await this.#runStep(step, args, context);
    } catch (error) {
      throw explainDisk(error, this.#options.folder);
    }
    throw new HallError("NOT_FOUND", `unknown tool "speckit.${name}"`);
  }

  async health() {
    return { state: "available" } as const;
  }

  isListed(): boolean {
    return this.#hasSpecs || (this.#options.isListed?.() ?? true);
  }

  isInUse(): boolean {
    return this.#hasSpecs;
  }

  onChange(listener: (kind: ListKind) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#watch.close();
    this.#listeners.clear();
  }

  #notify(kind: ListKind): void {
    for (const listener of this.#listeners) listener(kind);
  }

  async #runStep(name: StepName, args: JsonObject, context: CallContext): Promise<Outcome> {
    const { folder, documents, secrets } = this.#options;
    const step = await steps[name]();
    const { place, warning, isNew } = await this.#locate(name, args);
    // A new folder without files is not a feature.
    const removeEmpty = async (): Promise<void> => {
      if (isNew) await rmdir(place.path).catch(() => {});
    };
    const ours = { folder, documents, secrets, claims: this.#claims, now: this.#settings.now };
    const run = await beginRun({ place, step: name, args, context, ...ours }).catch(
      async (error: unknown) => {
        await removeEmpty();
        throw error;
      },
    );

    if (warning !== undefined) run.note(warning);
    if (existsSync(join(place.project, ".specify", "extensions.yml")))
      run.note("hooks in .specify/extensions.yml are not supported and were not run");
    const file = join(folder, ".guildhall", "workflow", `${basename(place.path)}.json`);
    const memory = { root: folder, file };
    try {
      const answer = await step({ place, args, context, run, memory, settings: this.#settings });
      await run.end(answer.isPaused ? "paused" : "completed", answer.text.split("\n")[0] ?? "");
      const notes = [...(warning === undefined ? [] : [warning]), ...(answer.notes ?? [])];
      return outcomeOf(name, { ...answer, notes }, place, run);
    } catch (error) {
      await removeEmpty();
      // The step's own error matters more than one from writing the row.
      await run
        .end(context.scope.cancelReason ? "cancelled" : "failed", messageOf(error))
        .catch(() => {});
      throw error;
    } finally {
      this.#publish();
    }
  }

  /** Announces features that a step has added or changed. */
  #publish(): void {
    this.#watch.renew();
    this.#notify("resources");
    if (this.#hasSpecs || !existsSync(join(this.#options.folder, ".specify"))) return;
    this.#hasSpecs = true;
    this.#notify("tools");
    this.#notify("prompts");
  }

  async #locate(name: StepName, args: JsonObject): Promise<StepPlace> {
    if (name === "specify") return placeFeature(args, this.#roots, this.#settings.now());
    if (name === "constitution") {
      const given = args.spec_directory;
      const start = typeof given === "string" ? given : this.#options.folder;
      const place = await findPlace(start, this.#roots);
      // The constitution belongs to the whole project.
      return { place: { ...place, path: place.project } };
    }
    return { place: await this.#findExisting(String(args.spec_directory)) };
  }

  async #findExisting(given: string): Promise<FeaturePlace> {
    const place = await findPlace(given, this.#roots);
    const found = await stat(place.path).catch(() => undefined);
    if (found?.isDirectory()) return place;
    throw new HallError("EXECUTION", `"${place.path}" does not exist`, {
      next: [{ do: "run-step", step: "specify", arguments: { spec_directory: place.path } }],
      details: { features: await listFeatureNames(place.project) },
    });
  }

  async #describeStatus(args: JsonObject): Promise<Outcome> {
    const { folder } = this.#options;
    const isOne = typeof args.spec_directory === "string" && args.spec_directory !== "";
    const place = isOne
      ? await this.#findExisting(String(args.spec_directory))
      : await findPlace(folder, this.#roots);
    const active = await findActive(place);
    const isFeature = isOne && basename(place.path) !== "specs" && place.path !== place.project;
    const paths = isFeature
      ? [place.path]
      : (await listFeatureNames(place.project)).map((name) => join(place.project, "specs", name));

    const features = await Promise.all(
      paths.map(async (path): Promise<FeatureStatus> => {
        const feature = await readFeature({ ...place, path });
        const claim = await findClaim(path, this.#claims);
        const isActive = path === active;
        if (!claim) return { ...feature, isActive };
        const { run: id, step, startedAt, isAtWork, arguments: given } = claim;
        return { ...feature, isActive, run: { id, step, startedAt, isAtWork, arguments: given } };
      }),
    );
    const text = features.map(statusLine).join("\n") || "No features yet.";
    return {
      content: [{ type: "text", text }],
      structuredContent: { project: place.project, active: active ?? null, features },
    };
  }

  async #runCommand(args: JsonObject, context: CallContext): Promise<Outcome> {
    const place = await this.#findExisting(String(args.spec_directory));
    const argv = (Array.isArray(args.argv) ? args.argv : []).map(String);
    const line = argv.join(" ");
    const { createCommandOutput, runCommand } = await import("./command.ts");
    const output = createCommandOutput({
      onLines: (stream, lines) =>
        context.log(stream === "stdout" ? "info" : "notice", lines, `speckit.command.${stream}`),
      scrub: (text) => this.#options.secrets?.scrub(text) ?? text,
    });

    context.progress({ progress: 0, message: line });
    const stop = startHeartbeat(
      (elapsedSeconds) =>
        context.progress({ progress: elapsedSeconds, message: line, elapsedSeconds }),
      this.#settings.pulseMs,
    );
    const { scope } = context;
    const result = await runCommand(argv, { cwd: place.project, scope, output }).finally(stop);
    const { code, signal, stdout, stderr } = result;
    const parts = [
      `${line} ${signal ? `ended by ${signal}` : `exited with code ${code}`}`,
      stdout.trim() && `stdout:\n${stdout.trim()}`,
      stderr.trim() && `stderr:\n${stderr.trim()}`,
    ];
    return {
      content: [{ type: "text", text: parts.filter(Boolean).join("\n\n") }],
      structuredContent: { ...result },
      isError: code !== 0,
    };
  }
}

/** A feature in the result of `speckit.status`. */
export interface FeatureStatus extends Feature {
  readonly isActive: boolean;
  readonly run?: Pick<Claim, "step" | "startedAt" | "arguments"> & {
    readonly id: string;
    readonly isAtWork: boolean;
  };
}

function statusLine({ name, phase, tasks, isActive, run }: FeatureStatus): string {
  const parts = [
    phase === "done" ? "done" : `next step: ${phase}`,
    tasks && `${tasks.done} of ${tasks.total} tasks done`,
    run && `${run.step} ${run.isAtWork ? "running" : "interrupted"}`,
  ];
  return `- ${name}${isActive ? " (active)" : ""}: ${parts.filter(Boolean).join(", ")}`;
}

/** Steps are loaded on first use. */
const steps: Readonly<Record<StepName, () => Promise<StepFunction>>> = {
  specify: async () => (await import("./specify.ts")).specify,
  clarify: async () => (await import("./clarify.ts")).clarify,
  plan: async () => (await import("./plan.ts")).plan,
  tasks: async () => (await import("./tasks-step.ts")).writeTasks,
  implement: async () => (await import("./implement.ts")).implement,
  constitution: async () => (await import("./constitution.ts")).constitution,
  checklist: async () => (await import("./checklist.ts")).checklist,
  analyze: async () => (await import("./analyze.ts")).analyze,
  converge: async () => (await import("./converge.ts")).converge,
  taskstoissues: async () => (await import("./tasks-to-issues.ts")).tasksToIssues,
};

function outcomeOf(
  name: StepName,
  answer: StepAnswer,
  { path, project }: FeaturePlace,
  run: StepRun,
): Outcome {
  const { notes = [], next: step, nextArguments } = answer;
  const next: Advice[] =
    step === undefined
      ? []
      : [{ do: "run-step", step, arguments: { spec_directory: path, ...nextArguments } }];
  const forModel = [answer.forModel, adviceForModel(next)].filter(Boolean).join(" ");
  return {
    content: [
      { type: "text", text: [answer.text, ...notes.map((note) => `Note: ${note}`)].join("\n\n") },
      ...(forModel === "" ? [] : [contentForModel(forModel)]),
    ],
    structuredContent: {
      step: name,
      run: run.id,
      log: run.log,
      feature: basename(path),
      directory: path,
      folder: relative(project, path),
      state: answer.isPaused ? "paused" : "completed",
      files: answer.files,
      next,
      notes,
      ...answer.details,
    },
    isError: false,
  };
}
