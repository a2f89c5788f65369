import { dirname, resolve } from "node:path";
import { HallError, messageOf } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { createInOrder } from "../base/one-at-a-time.ts";
import { Scope } from "../base/scope.ts";
import { readHallError } from "../client/hall-error.ts";
import { isInside } from "../config/project-limits.ts";
import { defaultCacheTtlSeconds, markDeprecated } from "../registry/metadata.ts";
import type { ModuleRequest, ToolkitOffer } from "../registry/module-exports.ts";
import type { LoadedToolkit, LoadModule } from "../registry/modules.ts";
import type { CallContext, Health, Outcome, Toolkit } from "../tool.ts";
import type { SandboxRights } from "../trust/ledger.ts";
import type { Fleet } from "../upstream/fleet.ts";
import type { SandboxPolicy } from "../upstream/sandbox/policy.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { ModuleOptions } from "./hall-options.ts";
import { moduleServer, modulesName } from "./sandbox.ts";

export function openModuleProcess(
  fleet: Pick<Fleet, "openApart">,
  { patterns, folder, sandbox }: ModuleOptions = { patterns: [], folder: "." },
  policy?: SandboxPolicy,
): Upstream {
  const decide: SandboxPolicy["decide"] = (name, config) => {
    const decision = policy?.decide(name, config) ?? { kind: "open" };
    return decision.kind === "open"
      ? decision
      : { ...decision, learned: withModuleFolders(decision.learned, patterns, folder) };
  };
  return fleet.openApart(modulesName, moduleServer(sandbox), policy && { ...policy, decide });
}

/** Modules outside the project come from the user's own file: their folders are readable, too. */
function withModuleFolders(
  { read, ...rights }: SandboxRights,
  patterns: readonly string[],
  folder: string,
): SandboxRights {
  const folders = patterns
    .map((pattern) => dirname(resolve(folder, pattern.replace(/[*?].*$/s, "x"))))
    .filter((path) => !isInside(path, folder));
  return { ...rights, read: [...new Set([...read, ...folders])] };
}

/** A process that does not answer for this long after a call timed out is ended. */
const stuckMs = 2_000;
const healthMsMax = 5_000;

/** Loads modules into their process. One at a time, so that the one that ends or blocks it is known. */
export function createModuleLoader(open: () => Upstream): LoadModule {
  const inOrder = createInOrder();
  let opened: Upstream | undefined;
  const host = (): Upstream => {
    opened ??= open();
    return opened;
  };

  async function ask(
    request: ModuleRequest,
    args: JsonObject,
    context: CallContext,
  ): Promise<Outcome> {
    const tool = { name: JSON.stringify(request), inputSchema: {} };
    try {
      return await host().call(tool, args, context);
    } catch (error) {
      if (error instanceof HallError && error.code === "TIMEOUT") void endIfStuck(host());
      throw withDenials(host(), readHallError(error));
    }
  }

  /** The same for what is no tool call: the answer is the structured content. */
  async function fetch(request: ModuleRequest, context: CallContext): Promise<JsonObject> {
    const { structuredContent } = await ask(request, {}, context);
    return isObject(structuredContent) ? structuredContent : {};
  }

  /** The same for what no client has asked for. */
  function fetchSoon(request: ModuleRequest): Promise<JsonObject> {
    const scope = new Scope(undefined, healthMsMax, request.toolkit);
    return scope.closeAfter(fetch(request, quiet(scope)));
  }

  async function load(file: string, digest: string, loadMsMax: number) {
    if (host().state().kind !== "ready") await host().discover();
    const scope = new Scope(undefined, loadMsMax, "loading it");
    try {
      const request = { file, digest, does: "load" } as const;
      const { toolkits } = await scope.closeAfter(fetch(request, quiet(scope)));
      return (toolkits as readonly ToolkitOffer[]).map((offer) => wrap({ file, digest }, offer));
    } catch (error) {
      // It ended the process, or still blocks it.
      const isGone = error instanceof HallError && ["UNAVAILABLE", "TIMEOUT"].includes(error.code);
      if (isGone) await host().restart();
      const reason = error instanceof HallError ? error.details?.reason : undefined;
      throw typeof reason === "string"
        ? new HallError("EXECUTION", `its process ${reason} while it was loaded`)
        : error;
    }
  }

  function wrap(of: Pick<ModuleRequest, "file" | "digest">, first: ToolkitOffer): LoadedToolkit {
    const { cacheTtlSeconds: cacheTtl = defaultCacheTtlSeconds } = first;
    const about = { ...of, toolkit: first.id };
    let offer: Promise<ToolkitOffer> = Promise.resolve(first);
    const read = async (): Promise<ToolkitOffer> => {
      const { toolkits } = await fetchSoon({ ...about, does: "offer" });
      return (toolkits as readonly ToolkitOffer[])[0] ?? first;
    };
    return {
      ...{ id: first.id, prefix: first.prefix, description: first.description },
      ...{ category: first.category, version: first.version, source: "module" },
      cacheTtlSeconds: cacheTtl,
      list: async () =>
        (await offer).tools.map((tool) => ({
          ...tool,
          _meta: { "guildhall/cache_ttl": cacheTtl, ...tool._meta },
          facts: { cacheTtl, ...tool.facts },
        })),
      call: async (tool, args, context) =>
        markDeprecated(await ask({ ...about, does: "call", name: tool.name }, args, context), tool),
      async health() {
        if (host().state().kind !== "ready") return host().health();
        return (await fetchSoon({ ...about, does: "health" })) as unknown as Health;
      },
      problem: () => host().problem?.(),
      async close() {
        if (host().state().kind !== "ready") return;
        // The process may end meanwhile, and with it the toolkit.
        await fetchSoon({ ...about, does: "close" }).catch(() => {});
      },
      onChange: (listener) =>
        host().onChange?.((kind) => {
          offer = read().catch(() => first);
          listener(kind);
        }) ?? (() => {}),
      ...(first.resources
        ? {
            resources: {
              list: async () => (await offer).resources ?? [],
              templates: async () => (await offer).templates ?? [],
              read: (uri, context) => fetch({ ...about, does: "read", name: uri }, context),
            } satisfies Toolkit["resources"],
          }
        : {}),
      ...(first.prompts
        ? {
            prompts: {
              list: async () => (await offer).prompts ?? [],
              get: async (name, args, context) =>
                (await ask({ ...about, does: "get", name }, args, context))
                  .structuredContent as JsonObject,
            } satisfies Toolkit["prompts"],
          }
        : {}),
    };
  }

  return (file, digest, loadMsMax) => inOrder(() => load(file, digest, loadMsMax));
}

/** Names the access that the sandbox denied, if the message mentions it. */
function withDenials(host: Upstream, error: unknown): unknown {
  const denied = host.explain(messageOf(error));
  if (denied === undefined || !(error instanceof HallError)) return error;
  return new HallError(error.code, `${error.message}\n${denied}`, { details: error.details });
}

async function endIfStuck(host: Upstream): Promise<void> {
  const scope = new Scope(undefined, stuckMs);
  const answered: Promise<unknown> = host.probe?.(scope) ?? Promise.resolve();
  await scope.closeAfter(answered).catch(() => host.restart());
}

/** For what no client has asked for. */
function quiet(scope: Scope): CallContext {
  const refuse = (): never => {
    throw new HallError("MISSING_CAPABILITY", "no client can be asked now");
  };
  return { scope, progress: () => {}, log: () => {}, ask: async () => refuse() };
}
