import { basename } from "node:path";
import { type Advice, readAdvice } from "../../base/advice.ts";
import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { Scope } from "../../base/scope.ts";
import { findNear } from "../../base/text.ts";
import type { HallClient } from "../../hall/hall-client.ts";
import { adviceWithoutHall, stepCommand } from "../advice.ts";
import { onStopSignals } from "../exit.ts";
import { withHall } from "../hall.ts";
import { below, createLive, type Live, quiet } from "../live.ts";
import { isAttended } from "../terminal.ts";
import { contentOf, toolError } from "./call.ts";
import { answerStep } from "./spec-answer.ts";

export interface SpecOptions {
  readonly feature?: string | undefined;
  readonly json?: boolean | undefined;
}

export interface SpecFeature {
  readonly name: string;
  readonly directory: string;
  readonly phase: string;
  readonly files: readonly string[];
  readonly tasks?: { readonly total: number; readonly done: number };
  readonly openQuestions: number;
  readonly isActive: boolean;
  readonly run?: {
    readonly id: string;
    readonly step: string;
    readonly isAtWork: boolean;
    readonly arguments: JsonObject;
  };
}

/** The structured result of a step. */
export interface SpecStepResult extends JsonObject {
  readonly text: string;
  readonly step: string;
  readonly state: string;
  readonly next: readonly Advice[];
}

/** Runs work with the workflow of this project's hall. Ctrl-C cancels the running step. */
export async function withSpecs(
  options: SpecOptions,
  work: (specs: SpecSession) => Promise<void>,
): Promise<void> {
  const scope = new Scope();
  const live = options.json ? quiet : createLive();
  const stop = onStopSignals(
    () =>
      scope.cancel(
        new HallError("CANCELLED", "cancelled", { hint: "Finished work is kept; run it again." }),
      ),
    () => {},
  );
  try {
    await withHall(
      (client) => work(new SpecSession(client, { scope, live, feature: options.feature })),
      { answer: isAttended(options) ? below(live, (params) => answerStep(params)) : undefined },
    );
  } finally {
    stop();
    scope.close();
  }
}

interface SessionOptions {
  readonly scope: Scope;
  readonly live: Live;
  /** The feature the user named. */
  readonly feature: string | undefined;
}

export class SpecSession {
  readonly #client: HallClient;
  readonly #options: SessionOptions;

  constructor(client: HallClient, options: SessionOptions) {
    this.#client = client;
    this.#options = options;
  }

  async run(step: string, args: JsonObject): Promise<SpecStepResult> {
    const { structured, text } = await this.#call(step, args);
    const { state } = structured;
    return { ...structured, step, state: String(state), next: readAdvice(structured.next), text };
  }

  async features(): Promise<readonly SpecFeature[]> {
    const { structured } = await this.#call("status", {});
    return structured.features as readonly SpecFeature[];
  }

  /** By name, number or folder; without one, the active feature. Throws NOT_FOUND. */
  async find(wanted: string | undefined): Promise<SpecFeature> {
    const features = await this.features();
    const chosen =
      wanted === undefined ? activeOf(features) : features.find((one) => matches(one, wanted));
    if (chosen) return chosen;

    const names = features.map(({ name }) => name);
    const near = wanted === undefined ? [] : findNear(wanted, names);
    const message = wanted === undefined ? "no active feature" : `unknown feature "${wanted}"`;
    const known = near.length > 0 ? near : names;
    throw new HallError("NOT_FOUND", withExpected(message, known), {
      next: [
        names.length === 0
          ? { do: "run-step", step: "specify" }
          : { do: "run-command", command: "spec list" },
      ],
    });
  }

  /** Throws NOT_FOUND with the known agents. */
  async needAgent(name: string): Promise<void> {
    const tools = await this.#client.list("tools/list", "tools");
    const names = tools.map((tool) => String(tool.name));
    if (names.includes(name)) return;
    const agents = names.filter((known) => known.endsWith("_agent"));
    throw new HallError("NOT_FOUND", withExpected(`unknown agent "${name}"`, agents), {
      next: [{ do: "run-command", command: agents.length > 0 ? "groups" : "build" }],
    });
  }

  async #call(
    step: string,
    args: JsonObject,
  ): Promise<{ readonly structured: JsonObject; readonly text: string }> {
    const { scope, live } = this.#options;
    const params = { name: `speckit.${step}`, arguments: args };
    const result = await this.#client
      .request("tools/call", params, { ...live, scope })
      .finally(live.clear);
    if (result.isError) throw this.#explain(toolError(result));
    const texts = contentOf(result).map((item) => String(item.text ?? ""));
    const { structuredContent } = result;
    return {
      structured: isObject(structuredContent) ? structuredContent : {},
      text: texts.join("\n"),
    };
  }

  /** Adds the feature the user named to commands, and drops advice that needs a running hall. */
  #explain({ code, message, hint, details, next }: HallError): HallError {
    const commands = next.map(
      (advice): Advice =>
        advice.do === "run-step"
          ? { do: "run-command", command: stepCommand(advice, this.#options.feature) }
          : advice,
    );
    const extra = details === undefined ? {} : { details };
    if (code === "APPROVAL_NEEDED" && this.#client.isEphemeral)
      return new HallError(code, message, {
        hint: adviceWithoutHall(commands).join("\n  "),
        ...extra,
      });
    return new HallError(code, message, { hint, next: commands, ...extra });
  }
}

function withExpected(message: string, known: readonly string[]): string {
  return known.length > 0 ? `${message} (expected: ${known.join(", ")})` : message;
}

function activeOf(features: readonly SpecFeature[]): SpecFeature | undefined {
  const active = features.find(({ isActive }) => isActive);
  return active ?? (features.length === 1 ? features[0] : undefined);
}

function matches({ name, directory }: SpecFeature, wanted: string): boolean {
  const path = wanted.replace(/[/\\]+$/, "");
  if (name === path || directory === path || name === basename(path)) return true;
  return /^\d+$/.test(wanted) && Number(/^(\d+)-/.exec(name)?.[1]) === Number(wanted);
}
