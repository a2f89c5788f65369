import type { CallRow } from "../../src/store/store.ts";

/** A call as the gateway would record it. */
export function callRow(given: Partial<CallRow> & Pick<CallRow, "id">): CallRow {
  return {
    parent: null,
    root: given.id,
    at: 1_750_000_000_000,
    caller: "test 1",
    connection: "connection_1",
    person: null,
    token: null,
    face: "tools",
    toolkit: "github",
    tool: "github.create_issue",
    arguments: '{"title":"It works","labels":["a","b"]}',
    outcome: "ok",
    code: null,
    ms: 12,
    bytesIn: 40,
    bytesOut: 200,
    planner: null,
    ...given,
  };
}
