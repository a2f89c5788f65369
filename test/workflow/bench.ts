import { join } from "node:path";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { HallOptions } from "../../src/hall/hall-options.ts";
import { createWorkflow, type WorkflowOptions } from "../../src/workflow/workflow.ts";
import { modern, type RawClient } from "../servers/client.ts";
import { startHall, type TestHall } from "../servers/hall.ts";

/** A hall with the workflow of one folder, and a modern client that calls its steps. */
export interface Bench extends AsyncDisposable {
  readonly hall: TestHall;
  readonly client: RawClient;
  call(step: string, args: JsonObject, capabilities?: JsonObject): Promise<Called>;
}

export interface Called {
  readonly isError: boolean;
  readonly text: string;
  readonly data: JsonObject;
  /** `error_type`, where it failed. */
  readonly code: string | undefined;
  readonly result: JsonObject;
}

const now = new Date("2026-11-16T09:30:00Z");

export async function startBench(
  workflow: Partial<WorkflowOptions> & { readonly folder: string },
  options: HallOptions = {},
): Promise<Bench> {
  const { toolkits = [], ...rest } = options;
  const hall = await startHall({
    ...rest,
    toolkits: [
      createWorkflow({
        now: () => now,
        claims: join(workflow.folder, ".guildhall", "claims"),
        ...workflow,
      }),
      ...toolkits,
    ],
  });
  const client = hall.connect();
  return {
    hall,
    client,
    call: async (step, args, capabilities = {}) =>
      read(
        await client.request(
          "tools/call",
          modern({ name: `speckit.${step}`, arguments: args }, capabilities),
        ),
      ),
    [Symbol.asyncDispose]: () => hall[Symbol.asyncDispose](),
  };
}

/** A result, or an error of the protocol, in one shape. */
export function read({ result, error }: JsonObject): Called {
  if (!isObject(result)) {
    const data = isObject(error) && isObject(error.data) ? error.data : {};
    return {
      isError: true,
      text: isObject(error) ? String(error.message) : "",
      data,
      code: String(data.error_type),
      result: {},
    };
  }
  const content = Array.isArray(result.content) ? (result.content as JsonObject[]) : [];
  const meta = isObject(result._meta) ? result._meta["guildhall/error"] : undefined;
  return {
    isError: result.isError === true,
    text: content.map(({ text }) => String(text ?? "")).join("\n"),
    data: isObject(result.structuredContent) ? result.structuredContent : {},
    code: isObject(meta) ? String(meta.error_type) : undefined,
    result,
  };
}
