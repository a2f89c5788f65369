import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLog, Secrets } from "../../src/base/log.ts";
import { TuiSession, type TuiSessionOptions } from "../../src/tui/session.ts";
import type { RunView, TuiState } from "../../src/tui/state.ts";
import { type ClientConfig, type ClientTarget, createServerTarget } from "../../src/tui/target.ts";
import { guardMs } from "../servers/until.ts";

/** The client in a folder of its own, with something to speak to. */
export interface ClientBench extends AsyncDisposable {
  readonly folder: string;
  readonly session: TuiSession;
  state(): TuiState;
  /** The first state that this is true of. */
  until(isSo: (state: TuiState) => boolean): Promise<TuiState>;
  /** The newest run, once it is over. */
  ended(): Promise<RunView>;
  /** The messages that the foreign agent received. */
  journal(): readonly string[];
}

const agent = fileURLToPath(new URL("../servers/foreign-agent.mjs", import.meta.url));

export function makeFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "guildhall-tui-")));
}

export type ForeignOptions = Partial<Omit<TuiSessionOptions, "target">> & {
  readonly folder?: string;
};

/** In front of the foreign agent. */
export async function openForeign(
  transport: ClientConfig["transport"] = "stdio",
  { folder = makeFolder(), ...more }: ForeignOptions = {},
): Promise<ClientBench> {
  const journal = join(folder, "journal.txt");
  const log = createLog({ level: "silent" });
  if (transport === "stdio") {
    const config: ClientConfig = {
      transport,
      command: process.execPath,
      args: [agent, transport, journal],
      timeout: 60,
    };
    return benchOf(createServerTarget(config, { folder, log }), folder, more);
  }
  const child = spawn(process.execPath, [agent, transport, journal], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const endpoint = await firstLine(child);
  return benchOf(
    createServerTarget({ transport, endpoint, args: [], timeout: 60 }, { folder, log }),
    folder,
    more,
    () => child.kill(),
  );
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.once("data", (bytes: Buffer) => resolve(bytes.toString().trim()));
    child.once("exit", (code) => reject(new Error(`the agent ended with ${code}`)));
  });
}

export function benchOf(
  target: ClientTarget,
  folder: string,
  more: Partial<TuiSessionOptions> = {},
  end: () => void = () => {},
): ClientBench {
  const session = new TuiSession({
    target,
    size: { columns: 80, rows: 24 },
    secrets: new Secrets(),
    intervalMs: 5,
    pollMs: 0,
    ...more,
  });
  const until: ClientBench["until"] = (isSo) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!isSo(session.state())) return;
        clearTimeout(timer);
        stop();
        resolve(session.state());
      };
      const timer = setTimeout(
        () =>
          reject(
            new Error(
              `waited in vain: ${JSON.stringify(session.state(), undefined, 1).slice(0, 3_000)}`,
            ),
          ),
        guardMs,
      );
      const stop = session.subscribe(look);
      look();
    });
  return {
    folder,
    session,
    until,
    state: () => session.state(),
    async ended() {
      const { runs } = await until(
        ({ runs: [run] }) =>
          run !== undefined && run.state.kind !== "running" && run.state.kind !== "cancelling",
      );
      return runs[0] as RunView;
    },
    journal: () => readFileSync(join(folder, "journal.txt"), "utf8").trim().split("\n"),
    async [Symbol.asyncDispose]() {
      await session.close();
      end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function outputOf({ output }: RunView, source: string): readonly string[] {
  return output.lines.filter((line) => line.source === source).map(({ text }) => text);
}
