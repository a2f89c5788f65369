import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, HallError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { CallContext } from "../tool.ts";

export interface OwnLoginOptions {
  readonly server: string;
  /** The page on which people log in and store their secrets; undefined while the hall has none. */
  url(): string | undefined;
  /** A text that changes whenever the person's login or secrets change. */
  stateOf(person: string): Promise<string>;
  /** Closes the person's connection. The next call opens one with their current login and secrets. */
  restart(person: string): Promise<void>;
}

/** Many clients give up on a silent call after 60 s. */
const silentMsMax = 50_000;
const waitMsMax = 300_000;
const lookMs = 250;
const progressMs = 5_000;

/**
 * Sends a person whose login or secret is missing to the hall's page; their call waits until it is stored. The
 * link contains no secret and no name. A colleague who opens it signs in as themselves, so passing on a link
 * gives nobody access to another account.
 */
export class OwnLogin {
  readonly #options: OwnLoginOptions;

  constructor(options: OwnLoginOptions) {
    this.#options = options;
  }

  async run<T>(context: CallContext, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const person = findLacking(error, context);
      const url = person === undefined ? undefined : this.#options.url();
      if (person === undefined || url === undefined || !opensUrls(context)) throw error;
      const state = await this.#options.stateOf(person);
      const done = await this.#ask(url, context);
      if (!done) throw error;
      return this.#repeat(context, { work, person, state, done });
    }
  }

  /**
   * Asks the person to open the page. Returns the function that closes the question in their client, or
   * undefined if they decline or cannot be asked.
   */
  async #ask(url: string, context: CallContext): Promise<(() => void) | undefined> {
    const { server } = this.#options;
    // Clients of 2026-07-28 have no session, and know no end of such a question.
    const link = context.caller?.link;
    const elicitationId = randomUUID();
    const params = {
      mode: "url",
      message: `The server "${server}" needs a login or secret of your own. Add it on the page of your hall, signed in as yourself. The call continues when it is there.`,
      url,
      ...(link ? { elicitationId } : {}),
    };
    const key = `own-${elicitationId}`;
    try {
      const { [key]: answer } = await context.ask({
        [key]: { method: "elicitation/create", params },
      });
      if (!isObject(answer) || answer.action !== "accept") return undefined;
      return () => link?.notify("notifications/elicitation/complete", { elicitationId });
    } catch (error) {
      if (error instanceof HallError && cannotAsk.has(error.code)) return undefined;
      throw error;
    }
  }

  async #repeat<T>(context: CallContext, { work, person, state, done }: Repeated<T>): Promise<T> {
    const endsAt = performance.now() + (context.takesProgress ? waitMsMax : silentMsMax);
    let known = state;
    for (;;) {
      // Also before the first wait, because the login may have been stored while the question was open.
      await this.#options.restart(person);
      try {
        const result = await work();
        done();
        return result;
      } catch (error) {
        if (findLacking(error, context) !== person) throw error;
        const next = await context.scope.pauseWhile(() =>
          this.#changed(context, { person, known, endsAt }),
        );
        if (next === undefined) throw error;
        known = next;
      }
    }
  }

  /** The next state, or undefined if there is none in time. */
  async #changed(
    { scope, progress }: CallContext,
    { person, known, endsAt }: { person: string; known: string; endsAt: number },
  ): Promise<string | undefined> {
    const since = performance.now();
    // Tiny, because the tool's own progress must be greater.
    const report = (): void =>
      progress({
        progress: (1 + performance.now() - since) / 1e9,
        message: `waiting for your login to ${this.#options.server}`,
      });
    const timer = setInterval(report, progressMs).unref();
    try {
      report();
      while (performance.now() < endsAt) {
        const state = await this.#options.stateOf(person);
        if (state !== known) return state;
        await scope.race(sleep(lookMs));
      }
      return undefined;
    } finally {
      clearInterval(timer);
    }
  }
}

interface Repeated<T> {
  readonly work: () => Promise<T>;
  readonly person: string;
  readonly state: string;
  done(): void;
}

/** The caller, if something of their own is missing. */
function findLacking(error: unknown, { caller }: CallContext): string | undefined {
  const user = caller?.person?.user;
  const next = error instanceof HallError ? (error.next ?? []) : [];
  const isLacking = next.some((advice) => advice.do === "run-command" && advice.person === user);
  return isLacking ? user : undefined;
}

function opensUrls({ capabilities }: CallContext): boolean {
  const elicitation = capabilities?.elicitation;
  return isObject(elicitation) && isObject(elicitation.url);
}

/** Errors of clients that declare the capability but do not have it. */
const cannotAsk: ReadonlySet<ErrorCode> = new Set([
  "EXECUTION",
  "BAD_ANSWER",
  "MISSING_CAPABILITY",
]);
