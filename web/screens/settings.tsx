import { useState } from "preact/hooks";
import type { Exposed } from "../../src/hall/page/exposed.ts";
import { ask } from "../api.ts";
import { useAction } from "../parts/action.ts";
import { Icon } from "../parts/icon.tsx";
import { Copy, Problem } from "../parts/problem.tsx";
import { Ago, Badge, formatBytes, formatTime, Loading, Page } from "../parts/shown.tsx";
import { refresh, toast, useData } from "../store.ts";
import type { ScreenProps } from "./screens.ts";

/** The list that clients get, and how they connect. */
export function Settings({ openMenu }: ScreenProps) {
  const { data, error } = useData("exposure", {});
  return (
    <Page title="Settings" openMenu={openMenu}>
      <div class="content padded stack loose narrow">
        {error && <Problem error={error} />}
        {!data && !error && <Loading />}
        {data && (
          <>
            <Faces exposed={data} />
            <Presets exposed={data} />
            <Tokens />
            <Lines exposed={data} />
          </>
        )}
      </div>
    </Page>
  );
}

function Faces({ exposed }: { readonly exposed: Exposed }) {
  const action = useAction();
  const whole = exposed.faces.find(({ name }) => name === "tools")?.bytes ?? 1;
  const choose = (expose: string): void =>
    action.run(async () => {
      const { file } = await ask("setExposure", { expose });
      toast(`wrote ${file}; clients see it after a restart of the hall`);
      refresh("exposure");
    });
  return (
    <section class="card">
      <header>
        <h2>What clients see</h2>
        <span class="faint small end">the size of the list a model reads</span>
      </header>
      {action.error && <Problem error={action.error} />}
      <div class="body stack">
        <Face
          name="default"
          summary="up to 40 tools as they are; above that, a search and the agents"
          isChosen={exposed.expose === "default"}
          isBusy={action.isBusy}
          choose={choose}
        />
        {exposed.faces.map((face) => (
          <Face
            key={face.name}
            name={face.name}
            summary={face.summary}
            size={`${face.tools} listed · ${formatBytes(face.bytes)} · about ${face.tokens.toLocaleString("en")} tokens`}
            share={face.bytes / whole}
            isChosen={exposed.expose === face.name}
            isBusy={action.isBusy}
            choose={choose}
          />
        ))}
      </div>
    </section>
  );
}

function Face(props: {
  readonly name: string;
  readonly summary: string;
  readonly size?: string;
  readonly share?: number;
  readonly isChosen: boolean;
  readonly isBusy: boolean;
  readonly choose: (name: string) => void;
}) {
  return (
    <label class="choice">
      <input
        type="radio"
        name="face"
        checked={props.isChosen}
        disabled={props.isBusy}
        onChange={() => props.choose(props.name)}
      />
      <span class="stack tight grow">
        <strong>{props.name}</strong>
        <span class="soft">{props.summary}</span>
        {props.size && <span class="faint small number">{props.size}</span>}
        {props.share !== undefined && (
          <span class="share" aria-hidden="true">
            <span style={{ width: `${Math.min(100, 100 * props.share)}%` }} />
          </span>
        )}
      </span>
    </label>
  );
}

function Presets({ exposed }: { readonly exposed: Exposed }) {
  return (
    <section class="card">
      <header>
        <h2>Presets</h2>
        <span class="faint small end">a client at /mcp/NAME gets only these tools</span>
      </header>
      {exposed.presets.length === 0 ? (
        <p class="body soft">
          No presets. Name some under <code>presets</code> in guildhall.json.
        </p>
      ) : (
        <div class="list-lines">
          {exposed.presets.map(({ name, tools }) => (
            <div key={name}>
              <strong class="mono">{name}</strong>
              <span class="faint small ellipsis">{tools.join(", ")}</span>
            </div>
          ))}
        </div>
      )}
    </section>
  );
}

const scopes = ["read", "call", "admin"];

function Tokens() {
  const { data, error } = useData("tokens", {});
  const [name, setName] = useState("");
  const [scope, setScope] = useState("call");
  const [made, setMade] = useState("");
  const action = useAction();
  const create = (): void =>
    action.run(async () => {
      const { token } = await ask("createToken", { name, scopes: [scope] });
      setMade(token);
      setName("");
      refresh("tokens");
    });
  const revoke = (token: string): void =>
    action.run(async () => {
      await ask("revokeToken", { name: token });
      toast(`revoked ${token}`);
      refresh("tokens");
    });
  const problem = error ?? action.error;
  return (
    <section class="card">
      <header>
        <h2>Tokens</h2>
        <span class="faint small end">for programs on other machines</span>
      </header>
      {problem && <Problem error={problem} />}
      <div class="list-lines">
        {(data?.tokens ?? []).map((token) => (
          <div key={token.name}>
            <strong class="mono">{token.name}</strong>
            {token.scopes.map((each) => (
              <Badge key={each} tone={each === "admin" ? "warn" : ""}>
                {each}
              </Badge>
            ))}
            <span class="faint small end">
              <Ago at={token.createdAt} />
              {token.expiresAt !== undefined && `, until ${formatTime(token.expiresAt)}`}
            </span>
            <button
              type="button"
              class="tiny danger"
              disabled={action.isBusy}
              onClick={() => revoke(token.name)}
            >
              Revoke
            </button>
          </div>
        ))}
      </div>
      <form
        class="body row wrap"
        onSubmit={(event) => {
          event.preventDefault();
          create();
        }}
      >
        <input
          class="short"
          aria-label="Name of the new token"
          placeholder="Name"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <select
          class="short"
          aria-label="Scope"
          value={scope}
          onChange={(event) => setScope(event.currentTarget.value)}
        >
          {scopes.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <button type="submit" disabled={action.isBusy || name.trim() === ""}>
          <Icon name="plus" />
          Create a token
        </button>
      </form>
      {made !== "" && (
        <div class="body stack" role="status">
          <span class="soft">Copy it now; it is not stored and not shown again.</span>
          <Copy text={made} />
        </div>
      )}
    </section>
  );
}

function Lines({ exposed }: { readonly exposed: Exposed }) {
  if (exposed.lines.length === 0) return null;
  return (
    <section class="card">
      <header>
        <h2>Connect a client</h2>
      </header>
      <dl class="body facts">
        {exposed.lines.map(([client, line]) => (
          <div key={client} class="contents">
            <dt>{client}</dt>
            <dd>
              <Copy text={line} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
