import { HallError } from "../base/errors.ts";
import { createIds } from "../base/ids.ts";
import type { JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Caller, Outcome } from "../tool.ts";

const callIds = createIds("call");

/** A call of the program that opened the hall, which cannot be asked anything. */
export async function callOnce(
  { call }: Gateway,
  named: { readonly name: string; readonly arguments: JsonObject },
): Promise<Outcome> {
  const caller: Caller = { connection: "program", principal: "program", client: "program" };
  const scope = new Scope();
  try {
    return await call(
      { ...named, id: callIds(), caller, target: undefined },
      {
        scope,
        caller,
        progress: () => {},
        log: () => {},
        ask: () => Promise.reject(new HallError("MISSING_CAPABILITY", "a program cannot be asked")),
      },
    );
  } finally {
    scope.close();
  }
}
