import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PageMethods } from "../../src/hall/page/contract.ts";
import type { PageServer } from "../../src/hall/page/servers.ts";
import { ask } from "../api.ts";
import { joinLog, newestOf } from "../log-lines.ts";
import { useAction } from "../parts/action.ts";
import { Icon } from "../parts/icon.tsx";
import { Problem, Steps } from "../parts/problem.tsx";
import { ServerState } from "../parts/server-state.tsx";
import { Badge, formatTime, plural } from "../parts/shown.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { go, hrefOf } from "../router.ts";
import { refresh, toast, useData, useLines } from "../store.ts";
import { ChangeDialog } from "./change-dialog.tsx";
import { SecretForm } from "./secret-form.tsx";
import { EditServer } from "./server-edit.tsx";

type Action = "startServer" | "stopServer" | "restartServer";
type Change = "enable" | "disable" | "remove";
const titles = { enable: "Enable", disable: "Disable", remove: "Remove" } as const;

/** One server: its state, what a person can do, its tools and its log. */
export function ServerDetail({
  server,
  tab = "state",
}: {
  readonly server: PageServer;
  readonly tab: string | undefined;
}) {
  const { name } = server;
  const [change, setChange] = useState<Change>();
  return (
    <section class="detail" aria-label={name}>
      <header>
        <div class="row spread">
          <h2 class="ellipsis">{name}</h2>
          <button
            type="button"
            class="plain icon-only"
            aria-label="Close"
            onClick={() => go("servers")}
          >
            <Icon name="close" />
          </button>
        </div>
        <div class="row wrap">
          <ServerState server={server} />
          <Actions server={server} />
          <button
            type="button"
            class="tiny"
            onClick={() => setChange(server.state === "disabled" ? "enable" : "disable")}
          >
            {server.state === "disabled" ? "Enable" : "Disable"}
          </button>
          <button type="button" class="tiny danger" onClick={() => setChange("remove")}>
            Remove
          </button>
        </div>
      </header>
      <Tabs
        label={`Parts of ${name}`}
        tabs={{ state: "State", tools: `Tools (${server.tools})`, logs: "Log", edit: "Entry" }}
        current={tab}
        choose={(next) => go("servers", name, next)}
      />
      {tab === "state" && <State server={server} />}
      {tab === "tools" && <ServerTools server={server} />}
      {tab === "logs" && <Log name={name} />}
      {tab === "edit" && <EditServer name={name} />}
      {change && (
        <ChangeDialog
          title={`${titles[change]} ${name}`}
          change={{ kind: change, server: name }}
          close={() => setChange(undefined)}
        />
      )}
    </section>
  );
}

function Actions({ server }: { readonly server: PageServer }) {
  const { run, isBusy, error } = useAction();
  const act = (method: Action): void =>
    run(() => ask(method, { server: server.name } as PageMethods[Action]["params"]));
  const isRunning = server.run?.kind === "ready" || server.run?.kind === "starting";
  if (server.state !== "enabled") return null;
  return (
    <>
      {isRunning ? (
        <button type="button" class="tiny" disabled={isBusy} onClick={() => act("stopServer")}>
          <Icon name="stop" />
          Stop
        </button>
      ) : (
        <button type="button" class="tiny" disabled={isBusy} onClick={() => act("startServer")}>
          <Icon name="play" />
          Start
        </button>
      )}
      <button type="button" class="tiny" disabled={isBusy} onClick={() => act("restartServer")}>
        <Icon name="restart" />
        Restart
      </button>
      {error && <Problem error={error} />}
    </>
  );
}

function State({ server }: { readonly server: PageServer }) {
  const { name, run, reason, lastError, missing, isRemote } = server;
  const down = run?.kind === "down" ? run.reason : undefined;
  const problem = reason ?? down;
  return (
    <div class="body">
      {problem !== undefined && missing.length === 0 && (
        <div class="problem">
          <strong>{problem}</strong>
          {server.state === "held" ? (
            <div class="row">
              <button type="button" class="primary tiny" onClick={() => go("review", name)}>
                Review it
              </button>
            </div>
          ) : (
            <div class="row wrap">
              <Steps next={server.next.filter((step) => step.do !== "login")} />
              {down !== undefined && (
                <button type="button" class="tiny" onClick={() => go("servers", name, "logs")}>
                  Read its log
                </button>
              )}
            </div>
          )}
        </div>
      )}
      {missing.map((variable) => (
        <SecretForm
          key={variable}
          name={variable}
          note="The server cannot start without it. It is stored as a secret, not in guildhall.json."
          button="Store"
          store={async (value) => {
            await ask("setSecret", { name: variable, value });
            toast(`${variable} is stored as a secret of this project`);
            refresh("servers");
          }}
        />
      ))}
      {isRemote && <Login name={name} />}
      <dl class="facts">
        <dt>Runs</dt>
        <dd class="mono">{server.target}</dd>
        <dt>Version</dt>
        <dd>{server.version ?? "unknown"}</dd>
        <dt>Protocol</dt>
        <dd>{server.protocol ?? "unknown"}</dd>
        <dt>Tools</dt>
        <dd>
          {server.tools}
          {server.disabledTools.length > 0 && `, ${server.disabledTools.length} disabled`}
        </dd>
        <dt>Calls</dt>
        <dd>
          {server.calls.toLocaleString("en")}, {plural(server.errors, "error")}
        </dd>
        <dt>Last failed call</dt>
        <dd>{lastError ?? "none"}</dd>
      </dl>
      {server.denied.length > 0 && <Denied server={server} />}
    </div>
  );
}

function Denied({ server: { name, denied } }: { readonly server: PageServer }) {
  return (
    <section class="stack tight" aria-label="Denied by the sandbox">
      <h3>Denied by the sandbox</h3>
      <ul class="list-lines">
        {denied.map(({ kind, what }) => (
          <li key={`${kind} ${what}`}>
            <Badge tone="warn">{kind}</Badge>
            <span class="mono break">{what}</span>
          </li>
        ))}
      </ul>
      <p class="faint small">
        If the server needs one of them, allow it: <code>guildhall sandbox learn {name}</code>
      </p>
    </section>
  );
}

/** The login opens in its own tab and reports its end to the hall. */
function Login({ name }: { readonly name: string }) {
  const { run, isBusy, error } = useAction();
  const begin = (): void =>
    run(async () => {
      const { url } = await ask("login", { server: name });
      // Only a web page may open: the address comes from the server.
      if (/^https?:$/.test(new URL(url).protocol)) open(url, "_blank", "noopener,noreferrer");
    });
  return (
    <div class="stack">
      <div>
        <button type="button" disabled={isBusy} onClick={begin}>
          <Icon name="external" />
          Log in
        </button>
      </div>
      {error && <Problem error={error} />}
    </div>
  );
}

function ServerTools({ server: { name, disabledTools } }: { readonly server: PageServer }) {
  const [enabling, setEnabling] = useState<string>();
  const tools = (useData("tools", {}).data?.tools ?? []).filter(({ toolkit }) => toolkit === name);
  if (tools.length + disabledTools.length === 0)
    return <p class="body soft">No tools are known yet. Start the server.</p>;
  return (
    <div class="list-lines">
      {tools.slice(0, 500).map((tool) => (
        <a key={tool.name} href={hrefOf("tools", tool.name)}>
          <span class="stack tight">
            <strong class="ellipsis">{tool.name}</strong>
            <span class="faint small ellipsis">{tool.description}</span>
          </span>
        </a>
      ))}
      {disabledTools.map((tool) => (
        <div key={tool}>
          <span class="faint ellipsis">{tool}</span>
          <button type="button" class="tiny end" onClick={() => setEnabling(tool)}>
            Enable
          </button>
        </div>
      ))}
      {enabling !== undefined && (
        <ChangeDialog
          title={`Enable ${name}.${enabling}`}
          change={{ kind: "enable tool", tool: `${name}.${enabling}` }}
          close={() => setEnabling(undefined)}
        />
      )}
    </div>
  );
}

/** The log so far, and new lines as the server writes them. */
function Log({ name }: { readonly name: string }) {
  const { data, error } = useData("logs", { server: name });
  const live = useLines(name);
  const box = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const lines = useMemo(() => joinLog(data?.lines ?? [], live), [data, newestOf(live)]);
  // The kept log is old as soon as the server writes; read it when the log is opened again.
  useEffect(() => () => refresh("logs"), []);
  useEffect(() => {
    if (isFollowing) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [lines, isFollowing]);
  if (error) return <Problem error={error} />;
  return (
    <div
      ref={box}
      class="logs"
      role="log"
      aria-label={`Log of ${name}`}
      tabIndex={0}
      onScroll={({ currentTarget: view }) =>
        setFollowing(view.scrollTop + view.clientHeight > view.scrollHeight - 30)
      }
    >
      {lines.length === 0 && <p class="body soft">The server has written nothing yet.</p>}
      {lines.map(({ at, text }, index) => (
        <div key={`${at} ${index}`}>
          <time dateTime={new Date(at).toISOString()}>{formatTime(at).slice(11)}</time>
          <span>{text}</span>
        </div>
      ))}
    </div>
  );
}
