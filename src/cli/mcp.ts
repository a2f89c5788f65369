import { Console } from "node:console";
import { createHall } from "../app.ts";
import { createLog } from "../base/log.ts";
import { loadConfig } from "../config/config.ts";
import { loadCompiler } from "../gateway/schema.ts";
import { parseFaces } from "../server/faces.ts";
import { defaultLimits } from "../wire/limits.ts";
import { createStdioChannel } from "../wire/stdio.ts";
import { drainMs, onStopSignals, parseLogLevel, surviveSurprises } from "./process.ts";

export interface McpOptions {
  readonly expose?: string;
  readonly static?: boolean;
  readonly logLevel: string;
}

/** Serves one client on stdin and stdout until it closes its end or the process is told to stop. */
export async function runMcp(options: McpOptions): Promise<void> {
  // stdout belongs to the protocol, whatever a library prints.
  globalThis.console = new Console(process.stderr);
  const log = createLog({ level: parseLogLevel(options.logLevel) });
  surviveSurprises(log);
  const config = await loadConfig(process.cwd());
  const hall = await createHall({ faces: parseFaces(options.expose ?? config.expose), isStatic: options.static ?? false, log });
  const connection = hall.server.accept(createStdioChannel(process.stdin, process.stdout, defaultLimits));
  const stop = onStopSignals(
    () => void hall.close(drainMs),
    () => void hall.close(0),
  );
  // Off the first call's path, on nobody's: while the client reads the answer to its handshake.
  setTimeout(() => void loadCompiler(), 50).unref();
  await connection.closed;
  stop();
  await hall.close();
}
