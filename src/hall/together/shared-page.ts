import type { SharedSessions } from "../../server/http/page-sessions.ts";
import type { Board } from "../../store/shared/board.ts";
import { SharedValues } from "./shared-values.ts";

/** The page in several halls: a browser may reach another hall with each request. */
export interface SharedPage extends SharedSessions {
  /** Logins to servers that wait for a browser. */
  readonly begun: SharedValues;
}

export function sharePage(board: Board, catchUp: SharedSessions["catchUp"]): SharedPage {
  const begun = new SharedValues(board, "begun");
  return {
    own: board.key.derive("user of the page").toString("base64url"),
    sessions: new SharedValues(board, "sessions"),
    codes: begun,
    begun,
    catchUp,
  };
}
