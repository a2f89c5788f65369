import { createLog, type Log } from "./base/log.ts";
import { version } from "./base/version.ts";
import { createGateway, type Gateway } from "./gateway/gateway.ts";
import { type CallRecords, createCallRecords } from "./gateway/record.ts";
import { createRegistry, type Registry } from "./registry/registry.ts";
import type { Face } from "./server/faces.ts";
import { createServer, type Server } from "./server/server.ts";
import type { Toolkit } from "./tool.ts";
import { createBuiltinToolkits } from "./toolkits/builtin.ts";
import { defaultLimits, type Limits } from "./wire/limits.ts";

/** A running hall: the line of a call, built right to left. `close` undoes it in reverse. */
export interface Hall {
  readonly registry: Registry;
  readonly gateway: Gateway;
  readonly records: CallRecords;
  readonly server: Server;
  readonly log: Log;
  close(drainMs?: number): Promise<void>;
}

export interface HallOptions {
  readonly faces?: readonly Face[];
  readonly toolkits?: readonly Toolkit[];
  readonly isStatic?: boolean;
  readonly pageSize?: number;
  readonly limits?: Partial<Limits>;
  readonly timeoutMs?: number;
  readonly log?: Log;
}

export async function createHall(options: HallOptions = {}): Promise<Hall> {
  const { faces = ["tools"], toolkits = createBuiltinToolkits(), isStatic = false, pageSize = 1_000, log = createLog() } = options;
  const registry = createRegistry({ log });
  await Promise.all(toolkits.map((toolkit) => registry.add(toolkit)));
  const records = createCallRecords();
  const gateway = createGateway({
    registry,
    records,
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    warn: (message) => log.warn(message),
  });
  const server = createServer({ registry, gateway, log, limits: { ...defaultLimits, ...options.limits }, version, faces, isStatic, pageSize });
  return {
    registry,
    gateway,
    records,
    server,
    log,
    async close(drainMs = 0) {
      await server.close(drainMs);
      await registry.close();
    },
  };
}
