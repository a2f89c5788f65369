import { Scope } from "../../src/base/scope.ts";
import type { EvaluationResult, ToolEntry } from "../../src/toolkits/programs/protocol.ts";
import { ProgramThread } from "../../src/toolkits/programs/thread.ts";
import { workers } from "./lisp-hall.ts";

export interface Program {
  readonly timeoutMs?: number;
  readonly outputCharacters?: number;
}

/** One JavaScript session without a hall; a tool answers with its arguments. */
export class JsSession implements AsyncDisposable {
  #thread = this.#start();
  /** The most calls that were under way at once. */
  atOnce = 0;
  #open = 0;
  readonly #gatherMin: number;
  #gathered = (): void => {};
  readonly #isGathered = new Promise<void>((resolve) => {
    this.#gathered = resolve;
  });

  /** The first calls are answered once so many of them are under way. */
  constructor(gatherMin = 1) {
    this.#gatherMin = gatherMin;
  }

  #start(): ProgramThread {
    return new ProgramThread({ language: "js", workers, seed: 1 });
  }

  /** A session whose thread had to be ended is replaced by a new one, as the hall does. */
  async run(
    code: string,
    { timeoutMs = 10_000, outputCharacters = 10_000 }: Program = {},
  ): Promise<EvaluationResult> {
    if (!this.#thread.isAlive) this.#thread = this.#start();
    const limits = { timeoutMs, outputCharacters, calls: 50, steps: 2_000_000_000 };
    const scope = new Scope(undefined, timeoutMs + 2_000, "the program");
    try {
      const order = { kind: "evaluate", code, mode: "explore", limits, tools } as const;
      const work = { scope, serve: (request: string) => this.#serve(request) };
      return (await this.#thread.run(order, "evaluated", work)).evaluation;
    } finally {
      scope.close();
    }
  }

  /** Of its thread, with the memory of QuickJS. */
  get heapMb(): number {
    return this.#thread.heapMb;
  }

  async #serve(text: string): Promise<string> {
    this.#open += 1;
    this.atOnce = Math.max(this.atOnce, this.#open);
    if (this.#open >= this.#gatherMin) this.#gathered();
    await this.#isGathered;
    // Leaves time for one call too many.
    await new Promise((resolve) => setTimeout(resolve, 5));
    this.#open -= 1;
    const { name, arguments: args } = JSON.parse(text) as { name: string; arguments: unknown };
    const structuredContent = { name, args };
    return JSON.stringify({ value: { content: [], structuredContent } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread.close();
  }
}

const tools: readonly ToolEntry[] = [
  { toolkit: "git-hub", name: "create_issue", fullName: "git-hub.create_issue" },
  { toolkit: "files", name: "read", fullName: "files.read" },
  { toolkit: "files", name: "get_one", fullName: "files.get_one" },
  { toolkit: "files", name: "get-one", fullName: "files.get-one" },
];
