import { type ChildProcess, spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { JsonObject } from "../../src/base/json.ts";
import { allowUnattended, type Home, makeHome, type Ran } from "../servers/home.ts";
import type { ModelEndpoint } from "../servers/model-script.ts";
import { startOpenAi } from "../servers/openai-endpoint.ts";
import { openTerminal } from "../servers/terminal.ts";
import { until } from "../servers/until.ts";
import { type Example, readPage, root } from "./pages.ts";

const everything = `${root}node_modules/@modelcontextprotocol`;
const servers = {
  files: { command: "node", args: [`${everything}/server-filesystem/dist/index.js`, "."] },
  github: { command: "node", args: [`${root}test/docs/github.mjs`] },
};

/**
 * A home with a project in which the examples of one page run, in their order. The comment above an
 * example says what it needs:
 *
 * - `project=empty` no config; `clients`: servers in the configs of other programs; `servers`: a
 *   config with `files` and `github`; `reviewed`: the same, approved; `weather`: a service to register
 * - `hall` a hall is running in the project; `model` a model answers; `approval` TOKEN is that of a
 *   waiting call; `calls` there were calls
 * - `policies` the page's examples in Cedar are the user's policies, and the one in YAML is cases.yaml
 * - `file=NAME` the page's first example in JavaScript, as a file of that name
 * - `yes` commands that would ask a person get `--yes`; `unattended` the user's own file allows nothing yet
 */
export class Workplace implements AsyncDisposable {
  readonly home: Home;
  #hall: { readonly child: ChildProcess; readonly url: string } | undefined;
  #model: ModelEndpoint | undefined;
  #service: Server | undefined;
  readonly #background: ChildProcess[] = [];
  #deleted = 0;

  constructor() {
    this.home = makeHome();
    const bin = join(this.home.path, "bin");
    mkdirSync(bin);
    const shim = `#!/bin/sh\nexec "${process.execPath}" "${root}dist/cli.js" "$@"\n`;
    writeFileSync(join(bin, "guildhall"), shim, { mode: 0o755 });
  }

  async prepare({ needs, place }: Example): Promise<void> {
    await this.#prepareProject(needs.get("project"));
    const file = needs.get("file");
    if (file !== undefined) this.#writeModule(file, place);
    if (needs.has("policies")) this.#writePolicies(place);
    if (needs.has("model")) await this.#startModel();
    if (needs.has("unattended")) this.home.write("~/.config/guildhall/config.json", "{}");
    if (needs.has("hall")) await this.#startHall();
    if (needs.has("calls")) await this.#call("github.list_issues", { state: "open" });
  }

  /** Runs one line of a shell example and gives its outcome. */
  async runLine(line: string, needs: Example["needs"]): Promise<Ran> {
    const command = await this.#fillIn(line.replace(/\s+#.*$/, ""));
    const isAsking = /^guildhall (init|build|verify|install|uninstall)\b/.test(command);
    const isYes = needs.has("yes") && isAsking && !command.includes("--yes");
    const whole = isYes ? `${command} --yes` : command;
    if (/^guildhall tui\b/.test(whole)) return this.#runTerminal(whole);
    if (/^guildhall (serve|register \S+\.js)\b/.test(whole)) return this.#runInBackground(whole);
    return this.run("sh", ["-c", whole], /^guildhall secret set\b/.test(whole) ? "a value\n" : "");
  }

  run(program: string, args: readonly string[], input = ""): Promise<Ran> {
    const child = this.#spawn(program, args);
    child.stdin?.end(input);
    return outcome(child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const children = [...this.#background, ...(this.#hall ? [this.#hall.child] : [])];
    await Promise.all(children.map(stop));
    // An example may leave a hall in the background.
    await this.run("guildhall", ["stop"]);
    await this.#model?.[Symbol.asyncDispose]();
    this.#service?.close();
    this.home[Symbol.dispose]();
  }

  get url(): string {
    return this.#hall?.url ?? "";
  }

  async #prepareProject(kind = "empty"): Promise<void> {
    const { home } = this;
    if (kind === "clients") {
      home.write("~/.cursor/mcp.json", { mcpServers: servers });
      home.write("./.vscode/mcp.json", { servers: { github: servers.github } });
    }
    if (kind === "servers" || kind === "reviewed")
      home.write("./guildhall.json", { mcpServers: servers, builtin: "all" });
    const isBuilt = existsSync(home.locate("./.guildhall/tools.lock.json"));
    if (kind === "reviewed" && !isBuilt) await this.run("sh", ["-c", "guildhall build --yes"]);
    if (kind === "weather") await this.#startWeather();
    if (kind === "empty")
      copyFileSync(`${root}examples/dice-server.mjs`, home.locate("./dice-server.mjs"));
    this.#linkLibrary();
  }

  /** `import … from "guildhall"` gives the built library. */
  #linkLibrary(): void {
    const modules = this.home.locate("./node_modules");
    if (existsSync(modules)) return;
    mkdirSync(modules);
    symlinkSync(root, join(modules, "guildhall"));
    symlinkSync(`${root}node_modules/zod`, join(modules, "zod"));
    this.home.write("./package.json", { type: "module" });
  }

  #writeModule(name: string, place: string): void {
    const page = readPage(place.split(":")[0] ?? "");
    const [first] = page.examples.filter(({ language }) => language === "js");
    this.home.write(`./${name}`, first?.text ?? "");
  }

  #writePolicies(place: string): void {
    const { examples } = readPage(place.split(":")[0] ?? "");
    const textOf = (wanted: string): string =>
      examples.flatMap(({ language, text }) => (language === wanted ? [text] : [])).join("\n");
    this.home.write("~/.config/guildhall/policies/page.cedar", textOf("cedar"));
    this.home.write("./cases.yaml", textOf("yaml"));
  }

  async #startModel(): Promise<void> {
    this.#model = await startOpenAi([{ say: "It is noon." }]);
    const { url, model } = this.#model;
    const planner = { model, baseUrl: url, apiKeyEnv: "DOCS_KEY" };
    allowUnattended(this.home.locate("~/.config"), { planner });
    await this.#stopHall();
  }

  async #startHall(): Promise<void> {
    if (this.#hall) return;
    const child = this.#spawn("guildhall", ["serve", "--port", "0", "--json"]);
    let output = "";
    child.stdout?.on("data", (bytes: Buffer) => {
      output += bytes;
    });
    const url = await until(
      () => /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0],
      "the hall's address",
    );
    this.#hall = { child, url };
  }

  async #stopHall(): Promise<void> {
    if (this.#hall) await stop(this.#hall.child);
    this.#hall = undefined;
  }

  /** The service of registry.md: its declaration with an address that works, and what answers there. */
  async #startWeather(): Promise<void> {
    this.#service = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
      const isCheck = method === "health/check";
      const result = isCheck
        ? { status: "active" }
        : { status: "completed", data: { sky: "clear" } };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
    await new Promise<void>((resolve) => this.#service?.listen(0, "127.0.0.1", resolve));
    const { port } = this.#service.address() as AddressInfo;
    const { examples } = readPage("docs/registry.md");
    const declaration = examples.find(({ needs }) => needs.has("registration"))?.text ?? "";
    this.home.write("./weather.json", declaration.replace("127.0.0.1:9000", `127.0.0.1:${port}`));
  }

  /** Puts what only a run can know in the place of words in capitals. */
  async #fillIn(line: string): Promise<string> {
    let filled = line
      .replace("127.0.0.1:8080", new URL(this.url || "http://127.0.0.1:8080").host)
      .replace(/ --port \d+/, " --port 0")
      .replace("--host 0.0.0.0", "--host 127.0.0.2");
    if (!filled.includes("--port"))
      filled = filled.replace(/^guildhall (serve|start)\b/, "guildhall $1 --port 0");
    if (filled.includes("TOKENFILE"))
      filled = filled.replace(
        "TOKENFILE",
        this.home.write("~/token", "a-token-for-this-test-only\n"),
      );
    if (/\bTOKEN\b/.test(filled)) filled = filled.replace("TOKEN", await this.#waitingCall());
    if (/\bRUN\b/.test(filled)) filled = filled.replace("RUN", await this.#lastRun());
    if (/\bGROUP\b/.test(filled)) {
      const [group = ""] = readdirSync(this.home.locate("./.guildhall/agents"));
      filled = filled.replace("GROUP", group.replace(/\.md$/, ""));
    }
    return filled;
  }

  /** A call of another destructive tool each time: an approval may cover all calls of a tool. */
  async #waitingCall(): Promise<string> {
    const kinds = ["branch", "release", "comment", "label"];
    const tool = `github.delete_${kinds[this.#deleted++]}`;
    // It waits for the answer, which the example gives.
    void this.#call(tool, { name: "old" }).catch(() => {});
    return until(async () => {
      const { stdout } = await this.run("guildhall", ["approvals", "--json"]);
      const pending = JSON.parse(stdout) as readonly {
        readonly tool: string;
        readonly token: string;
      }[];
      return pending.find((call) => call.tool === tool)?.token;
    }, `${tool} waits for approval`);
  }

  async #lastRun(): Promise<string> {
    const { stdout, stderr } = await this.run("guildhall", ["runs", "list", "--json"]);
    const [id] = /(?:run|lisp)_[\w-]+/.exec(stdout) ?? [];
    if (id === undefined) throw new Error(`no run is listed: ${stdout}${stderr}`);
    return id;
  }

  async #call(name: string, args: JsonObject): Promise<JsonObject> {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "docs", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const response = await fetch(`${this.url}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": name,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name, arguments: args, _meta },
      }),
    });
    return (await response.json()) as JsonObject;
  }

  /** Commands that run until they are stopped: the first line of output shows that they work. */
  async #runInBackground(command: string): Promise<Ran> {
    const child = this.#spawn("sh", ["-c", `exec ${command}`]);
    this.#background.push(child);
    const ended = outcome(child);
    let stdout = "";
    child.stdout?.on("data", (bytes: Buffer) => {
      stdout += bytes;
    });
    const begun = until(() => stdout.includes("\n"), command).then(() => ({
      code: 0,
      stdout,
      stderr: "",
    }));
    return Promise.race([begun, ended]);
  }

  /** A full-screen command on a pseudo terminal: it shows a frame, and `q` ends it. */
  async #runTerminal(command: string): Promise<Ran> {
    await using terminal = openTerminal(["sh", "-c", `exec ${command}`], {
      folder: this.home.project,
      env: { ...this.#env(), TERM: "xterm-256color" },
    });
    let code: number | null | undefined;
    void terminal.ended.then((ended) => {
      code = ended;
    });
    await until(() => terminal.raw().length > 500 || code !== undefined, "the first frame");
    // Until it leaves the screen: after that, the key would be a signal.
    const quitting = setInterval(() => {
      if (!terminal.raw().includes("\u001b[?1049l")) terminal.type("\u0003");
    }, 500);
    const ended = await terminal.ended;
    clearInterval(quitting);
    return { code: ended, stdout: terminal.raw(), stderr: "" };
  }

  #env(): NodeJS.ProcessEnv {
    const { env, path } = this.home;
    return { ...env, PATH: `${path}/bin:${env.PATH}`, DOCS_KEY: "key" };
  }

  #spawn(program: string, args: readonly string[]): ChildProcess {
    const { project } = this.home;
    const child = spawn(program, args, { cwd: project, env: this.#env(), stdio: "pipe" });
    child.stdin?.on("error", () => {});
    return child;
  }
}

function outcome(child: ChildProcess): Promise<Ran> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (bytes: Buffer) => {
    stdout += bytes;
  });
  child.stderr?.on("data", (bytes: Buffer) => {
    stderr += bytes;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.on("close", resolve));
  child.kill("SIGTERM");
  await ended;
}
