import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { RawClient } from "../servers/client.ts";
import type { World } from "../trust/world.ts";

/** The folder of the built workers: Node 20 does not run TypeScript. */
export const workers = new URL("../../dist/", import.meta.url);

export interface Evaluated {
  readonly text: string;
  readonly isError: boolean;
  readonly content: readonly JsonObject[];
  /** The calls that need an approval. */
  readonly approvals: readonly JsonObject[];
  readonly data: {
    readonly run: string;
    readonly session: string;
    readonly stdout: string;
    readonly values: readonly string[];
    readonly definitions: readonly JsonObject[];
    readonly calls: readonly { readonly name: string; readonly status: string }[];
    readonly condition?: { readonly type: string; readonly message: string };
    readonly next?: readonly JsonObject[];
  };
}

/** In the connection's own session. */
export async function evaluate(
  client: RawClient,
  code: string,
  more: JsonObject = {},
  name = "evaluate-lisp",
): Promise<Evaluated> {
  const { result, error } = await client.request("tools/call", {
    name,
    arguments: { code, ...more },
  });
  if (!isObject(result)) throw new Error(JSON.stringify(error));
  const content = result.content as JsonObject[];
  return {
    text: String(content[0]?.text),
    isError: result.isError === true,
    content,
    approvals:
      ((isObject(result._meta)
        ? result._meta["guildhall/approvals"]
        : undefined) as Evaluated["approvals"]) ?? [],
    data: result.structuredContent as unknown as Evaluated["data"],
  };
}

/** The token of the call that waits for an approval. */
export function tokenOf({ door }: World): string {
  return door.hall.approvals.pending()[0]?.token ?? "";
}
