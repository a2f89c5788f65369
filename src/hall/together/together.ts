import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { OpenBucket } from "../../gateway/limits.ts";
import type { HealthBook } from "../../registry/health.ts";
import type { Registrations } from "../../registry/registrations.ts";
import type { Admission, Identity } from "../../server/http/guard.ts";
import type { SharedMoves } from "../../server/http/moved-sessions.ts";
import { OtherHalls } from "../../server/http/other-halls.ts";
import { refuseUnavailable } from "../../server/http/refusal.ts";
import type { NamedTokens } from "../../server/http/tokens.ts";
import type { Board } from "../../store/shared/board.ts";
import { SharedApprovals } from "./shared-approvals.ts";
import { shareBuckets } from "./shared-limits.ts";
import { type SharedOwn, shareOwn } from "./shared-own.ts";
import { type SharedPage, sharePage } from "./shared-page.ts";
import { type SendRun, shareHealth, shareRegistrations } from "./shared-registrations.ts";
import { SharedValues } from "./shared-values.ts";

/** One of several halls that share a database: what its parts need to act as one with the others. */
export interface Together {
  readonly board: Board;
  readonly others: OtherHalls;
  readonly approvals: SharedApprovals;
  readonly own: SharedOwn;
  readonly page: SharedPage;
  readonly moves: SharedMoves;
  /** Seals what any hall may have to read. */
  readonly sealKey: Buffer;
  /**
   * Undefined if this hall knows what was decided anywhere, else resolves once it does. Throws UNAVAILABLE if that is
   * needed; else a hall that cannot reach the database continues with what it knows.
   */
  confirm(isNeeded: boolean): Promise<void> | undefined;
  /** The owner of a named token, unless this hall was cut off for too long to know whether it was revoked. */
  findOwner(
    named: Pick<NamedTokens, "find">,
    token: string,
  ): Admission | undefined | Promise<Admission | undefined>;
  /** Admits a caller that another hall vouches for. That hall may not know that a named token was revoked. */
  admit(
    named: Pick<NamedTokens, "list">,
    caller: Identity,
  ): Admission | undefined | Promise<Admission | undefined>;
  readonly openBucket: OpenBucket;
  share(own: Registrations, book: Registrations, health: HealthBook): Registrations;
  close(): Promise<void>;
}

export function createTogether(board: Board): Together {
  const others = new OtherHalls({
    hall: board.hall,
    key: board.key.derive("calls between halls"),
    find: (hall) => board.colleagues.find(({ id }) => id === hall)?.url,
    isThere: (hall) => board.colleagues.some(({ id, isThere }) => id === hall && isThere),
    any() {
      const able = board.colleagues.filter(
        ({ url, isThere, isLeaving }) => url !== undefined && isThere && !isLeaving,
      );
      return able[Math.floor(Math.random() * able.length)]?.id;
    },
    refresh: () => board.refresh(),
  });
  const send: SendRun = async (hall, body, scope) =>
    readRun(await others.ask(hall, "/halls/run", body, scope));
  const confirm: Together["confirm"] = (isNeeded) => {
    if (board.isCurrent) return undefined;
    if (isNeeded) return board.refresh();
    return board.isAway ? undefined : board.refresh().catch(() => {});
  };
  return {
    board,
    others,
    approvals: new SharedApprovals(board),
    own: shareOwn(board),
    page: sharePage(board, () => confirm(false)),
    moves: shareMoves(board),
    sealKey: board.key.derive("requests"),
    confirm,
    findOwner(named, token) {
      const find = (): Admission | undefined => {
        const owner = named.find(token);
        const outdated = owner && board.outdated;
        return outdated ? { refusal: refuseUnavailable(outdated) } : owner;
      };
      return confirm(false)?.then(find) ?? find();
    },
    admit(named, caller) {
      const { principal, person } = caller;
      if (person?.token !== principal || person.issuer !== undefined) return caller;
      const check = (): Admission | undefined =>
        named.list().some(({ name }) => name === principal) ? caller : undefined;
      return confirm(false)?.then(check) ?? check();
    },
    openBucket: shareBuckets(board),
    share(own, book, health) {
      shareHealth(health, book, board);
      return shareRegistrations(own, book, board, send);
    },
    close: () => board.close(),
  };
}

/** A hall that was cut off for long keeps its own sessions and knows of no others. */
function shareMoves(board: Board): SharedMoves {
  const values = new SharedValues(board, "moves");
  return {
    get: (id) => (board.outdated ? undefined : values.get(id)),
    edit: (id, change, ttlMs) => values.edit(id, change, ttlMs),
    refresh: () => board.refresh(),
  };
}

/** The result of a call that another hall ran. Throws its failure. */
function readRun({ result, failure }: JsonObject): unknown {
  if (!isObject(failure)) return result;
  const { code, message, relayed } = failure as unknown as HallError;
  throw new HallError(code, message, { relayed });
}
