import { HallError } from "../base/errors.ts";
import type { Scope } from "../base/scope.ts";
import type { ServerConnection } from "../client/connection.ts";
import type { CallContext, Caller } from "../tool.ts";
import { OwnLogin, type OwnLoginOptions } from "./own-login.ts";
import type { Supervisor } from "./supervisor.ts";

/**
 * The connections to one server. All clients share the main one, with two exceptions. If a remote server speaks
 * both protocol families, each client gets a connection in its own. If a server asks questions without naming
 * the call, each connection serves one client at a time, so that no client gets another's question; a server
 * that is a process then runs several times.
 */
export class Lines {
  readonly #options: LinesOptions;
  readonly #lines: Line[];
  /** Those of people with a login or secrets of their own, the longest unused first. */
  readonly #people = new Map<string, Line>();
  readonly #ownLogin: OwnLogin | undefined;
  #asks = false;
  #isModernOnly = false;

  constructor(options: LinesOptions) {
    this.#options = options;
    this.#lines = [new Line(options.main, false)];
    const { name: server, isPersonal, ownLogin } = options;
    if (isPersonal && ownLogin)
      this.#ownLogin = new OwnLogin({
        ...ownLogin,
        server,
        restart: (person) => this.restart(person),
      });
  }

  get all(): readonly Line[] {
    return [...this.#lines, ...this.#people.values()];
  }

  /** The server asked without saying for which call. */
  hasAsked(): void {
    this.#asks = this.#options.share === "auto";
  }

  /** Runs work on a connection for the caller, opening it if needed. */
  use<T>(context: CallContext, work: (connection: ServerConnection) => Promise<T>): Promise<T> {
    const { scope, caller } = context;
    const user = this.#options.isPersonal ? caller?.person?.user : undefined;
    if (caller && user !== undefined) {
      const use = (): Promise<T> => this.#useOwn(user, caller, scope, work);
      return this.#ownLogin?.run(context, use) ?? use();
    }
    const isLegacy =
      caller?.isLasting === true && !this.#isModernOnly && this.#options.isSplitByEra();
    if (caller && (this.#asks || this.#options.share === "never"))
      return this.#useAlone(this.#takeFree(isLegacy, caller), { scope, caller }, work);
    if (!isLegacy) return this.#options.main.use(scope, work);
    return this.#useLegacy(this.#takeAny(), scope, work);
  }

  /** Restarts all connections, or those of one person after their login or secrets changed. */
  async restart(person?: string): Promise<void> {
    const own = person === undefined ? undefined : this.#people.get(person)?.supervisor;
    const ended = person === undefined ? this.all.map(({ supervisor }) => supervisor) : [own];
    await Promise.all(ended.map((supervisor) => supervisor?.restart()));
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map(({ supervisor }) => supervisor.close()));
  }

  /** A person's calls go over their own connection, which alone has their login and secrets. */
  async #useOwn<T>(
    user: string,
    { connection }: Caller,
    scope: Scope,
    work: (connection: ServerConnection) => Promise<T>,
  ): Promise<T> {
    const line = this.#people.get(user) ?? new Line(this.#options.create(false, user), false);
    this.#people.delete(user);
    this.#people.set(user, line);
    this.#endUnused();
    line.running.push(connection);
    try {
      return await line.supervisor.use(scope, work);
    } finally {
      line.running.splice(line.running.indexOf(connection), 1);
    }
  }

  #endUnused(): void {
    if (this.#people.size <= peopleMax) return;
    const unused = [...this.#people].find(([, { running }]) => running.length === 0);
    if (!unused) return;
    this.#people.delete(unused[0]);
    void unused[1].supervisor.close();
  }

  #takeAny(): Line {
    return this.#lines.find(({ isLegacy }) => isLegacy) ?? this.#add(true);
  }

  /** The caller's last connection, another one that nobody uses, or a new one. */
  #takeFree(isLegacy: boolean, caller: Caller): Line {
    const { name, share } = this.#options;
    const client = clientOf(caller);
    const free = this.#lines.filter(
      (line) => line.isLegacy === isLegacy && line.isFreeFor(caller.connection),
    );
    const found =
      free.find((line) => line.client === client) ??
      free.find((line) => share === "auto" || line.client === undefined);
    if (found) return found;
    if (this.#lines.length >= linesMax)
      throw new HallError(
        "OVERLOADED",
        `server "${name}" reached its limit of ${linesMax} connections, one for each client`,
        { next: [{ do: "retry-after", seconds: 5 }] },
      );
    return this.#add(isLegacy);
  }

  #add(isLegacy: boolean): Line {
    const line = new Line(this.#options.create(isLegacy), isLegacy);
    this.#lines.push(line);
    return line;
  }

  async #useAlone<T>(
    line: Line,
    { scope, caller }: { readonly scope: Scope; readonly caller: Caller },
    work: (connection: ServerConnection) => Promise<T>,
  ): Promise<T> {
    if (line.client !== clientOf(caller)) this.#give(line, caller);
    line.running.push(caller.connection);
    try {
      return await (line.isLegacy
        ? this.#useLegacy(line, scope, work)
        : line.supervisor.use(scope, work));
    } finally {
      line.running.splice(line.running.indexOf(caller.connection), 1);
    }
  }

  /** A server that is never shared ends with its client. */
  #give(line: Line, caller: Caller): void {
    const client = clientOf(caller);
    line.client = client;
    if (this.#options.share !== "never") return;
    caller.link?.onClosed(() => {
      if (line.client !== client) return;
      line.client = undefined;
      void line.supervisor.restart();
    });
  }

  /** A server that does not accept the older family is spoken to in the newer one from then on. */
  async #useLegacy<T>(
    line: Line,
    scope: Scope,
    work: (connection: ServerConnection) => Promise<T>,
  ): Promise<T> {
    line.isAccepted ||= await line.supervisor
      .use(scope, async ({ handshake }) => handshake.era === "legacy")
      .catch(() => false);
    if (line.isAccepted) return line.supervisor.use(scope, work);
    const result = await this.#options.main.use(scope, work);
    this.#isModernOnly = true;
    void line.supervisor.restart();
    return result;
  }
}

export interface LinesOptions {
  readonly name: string;
  readonly share: "auto" | "always" | "never";
  /** The connection that everything but calls uses. */
  readonly main: Supervisor;
  /** True if older clients should get a connection in their own protocol family. */
  isSplitByEra(): boolean;
  /** True if each person has a login or secrets of their own. */
  readonly isPersonal: boolean;
  /** The page for people who lack one of them. */
  readonly ownLogin?: Pick<OwnLoginOptions, "url" | "stateOf"> | undefined;
  create(isLegacy: boolean, person?: string): Supervisor;
}

const linesMax = 32;
const peopleMax = 500;

class Line {
  readonly supervisor: Supervisor;
  readonly isLegacy: boolean;
  /** The client that used it last. */
  client: string | undefined;
  /** The server has accepted the older protocol family on it. */
  isAccepted = false;
  /** The connections of its calls. */
  readonly running: string[] = [];

  constructor(supervisor: Supervisor, isLegacy: boolean) {
    this.supervisor = supervisor;
    this.isLegacy = isLegacy;
  }

  /** True if no other client has a call on it. */
  isFreeFor(connection: string): boolean {
    return (
      this.running.every((other) => other === connection) &&
      (this.supervisor.connection()?.isFreeFor(connection) ?? true)
    );
  }
}

/** A client with a session is its connection; requests without one are told apart by their user only. */
function clientOf({ isLasting, connection, principal }: Caller): string {
  return isLasting ? connection : principal;
}
