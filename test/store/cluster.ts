import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { until } from "../servers/until.ts";

/** A PostgreSQL server in a temporary folder, with a user, a password and a certificate. */
export interface Cluster {
  readonly host: string;
  readonly port: number;
  readonly password: string;
  /** The root of its certificate, which is for `localhost`. */
  readonly rootFile: string;
  /** With a new schema, or the named one. */
  url(options?: {
    readonly schema?: string;
    readonly user?: string;
    readonly port?: number;
    readonly more?: string;
  }): string;
  query(sql: string): Promise<readonly Record<string, unknown>[]>;
  /** Ends it at once, without a checkpoint. */
  stop(): Promise<void>;
  /** Kills it and all processes that it has, as a crash of its machine does. `start` must follow. */
  kill(): Promise<void>;
  /** Stops all of its processes where they are, until `resume`. */
  pause(): void;
  resume(): void;
  start(): Promise<void>;
  /** A copy that follows it. What is committed from then on is on both. */
  createStandby(): Promise<Standby>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Standby {
  readonly host: string;
  readonly port: number;
  /** Makes it a database of its own. */
  promote(): Promise<void>;
}

const [host, user, password] = ["127.0.0.1", "guild", "pass/word %41"];

export async function startCluster(): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-postgres-"));
  const owner = ownerOf();
  const run = { cwd: folder, ...owner, stdio: "ignore" as const };
  const file = (name: string): string => join(folder, name);
  const own = (name: string, mode: number): void => {
    chmodSync(file(name), mode);
    if (owner) chownSync(file(name), owner.uid, owner.gid);
  };
  writeFileSync(file("password"), password);
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const key = [
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-keyout",
    file("key.pem"),
  ];
  execFileSync(
    "openssl",
    ["req", "-x509", "-nodes", "-days", "2", ...subject, ...key, "-out", file("root.pem")],
    { stdio: "ignore" },
  );
  for (const name of ["password", "key.pem", "root.pem"]) own(name, 0o600);
  chmodSync(file("root.pem"), 0o644);
  if (owner) chownSync(folder, owner.uid, owner.gid);
  // Creating the empty cluster needs no durability.
  const setUp = [
    "--no-sync",
    "--no-locale",
    "--encoding=UTF8",
    "--auth-local=scram-sha-256",
    "--auth-host=scram-sha-256",
  ];
  execFileSync(
    program("initdb"),
    ["-D", file("data"), "-U", user, `--pwfile=${file("password")}`, ...setUp],
    run,
  );
  const port = await findPort();
  const servers = new Set<ChildProcess>();
  let schemas = 0;

  async function launch(data: string, at: number): Promise<ChildProcess> {
    const settings = [
      "ssl=on",
      `ssl_cert_file=${file("root.pem")}`,
      `ssl_key_file=${file("key.pem")}`,
      `listen_addresses=${host}`,
      "fsync=on",
    ];
    const args = [
      "-D",
      data,
      "-k",
      folder,
      "-p",
      String(at),
      ...settings.flatMap((setting) => ["-c", setting]),
    ];
    const started = spawn(program("postgres"), args, {
      ...run,
      stdio: ["ignore", "ignore", "pipe"],
    });
    servers.add(started);
    await new Promise<void>((resolve, reject) => {
      let said = "";
      started.stderr.on("data", (chunk: Buffer) => {
        said += said.length < 100_000 ? chunk : "";
        if (/ready to accept (read-only )?connections/.test(said)) resolve();
      });
      started.once("exit", () => {
        servers.delete(started);
        reject(new Error(`PostgreSQL did not start: ${said}`));
      });
    });
    return started;
  }

  let server: ChildProcess | undefined;
  async function start(): Promise<void> {
    server = await until(
      () =>
        launch(file("data"), port).catch((error: Error) => {
          // For a moment, a process that was killed still has the memory of the last server.
          if (!error.message.includes("is still in use")) throw error;
          return undefined;
        }),
      "PostgreSQL starts",
    );
  }

  async function createStandby(): Promise<Standby> {
    const data = file("standby");
    const source = `host=${host} port=${port} user=${user}`;
    const env = { ...process.env, PGPASSWORD: password };
    execFileSync(program("pg_basebackup"), ["-d", source, "-D", data, "-R"], { ...run, env });
    // Commits wait until the standby has them, so that none is lost with the first.
    const standbyPort = await findPort();
    await launch(data, standbyPort);
    await query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await query("SELECT pg_reload_conf()");
    return {
      host,
      port: standbyPort,
      async promote() {
        await query("SELECT pg_promote()", standbyPort);
        // It has copied this setting, and has no standby itself.
        await query("ALTER SYSTEM RESET synchronous_standby_names", standbyPort);
        await query("SELECT pg_reload_conf()", standbyPort);
      },
    };
  }

  async function query(sql: string, at = port): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ host, port: at, user, password, database: "postgres" });
    await client.connect();
    try {
      return (await client.query(sql)).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  }

  async function stop(last = server): Promise<void> {
    if (!last || !servers.delete(last)) return;
    const exited = once(last, "exit");
    last.kill("SIGQUIT");
    await exited;
  }

  async function kill(): Promise<void> {
    if (!server || !servers.delete(server)) return;
    const exited = once(server, "exit");
    signal("SIGKILL");
    await exited;
  }

  function signal(name: NodeJS.Signals): void {
    const { pid } = server ?? {};
    if (pid === undefined) return;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    for (const each of [pid, ...children.split(" ").filter(Boolean).map(Number)])
      try {
        process.kill(each, name);
      } catch {
        // A process of one connection ended by itself.
      }
  }

  const end = (): void => {
    for (const each of servers) each.kill("SIGQUIT");
  };
  process.once("exit", end);
  await start();
  return {
    host,
    port,
    password,
    rootFile: file("root.pem"),
    url({ schema = `s${++schemas}`, user: name = user, port: behind = port, more = "" } = {}) {
      return `postgres://${name}:${encodeURIComponent(password)}@${host}:${behind}/postgres?schema=${schema}${more}`;
    },
    query: (sql) => query(sql),
    stop: () => stop(),
    kill,
    pause: () => signal("SIGSTOP"),
    resume: () => signal("SIGCONT"),
    start,
    createStandby,
    async [Symbol.asyncDispose]() {
      process.off("exit", end);
      for (const each of [...servers]) await stop(each);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Debian installs each version in a folder of its own. */
function program(name: string): string {
  const home = "/usr/lib/postgresql";
  const programs = readdirSync(home)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(home, version, "bin", name));
  return programs.find((path) => existsSync(path)) ?? name;
}

/** PostgreSQL refuses to run as root; its package creates a user. */
function ownerOf(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith("postgres:"));
  const [, , uid, gid] = line?.split(":") ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address ? address.port : 0;
}
