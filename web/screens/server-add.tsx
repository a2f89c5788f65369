import { useState } from "preact/hooks";
import type { ConfigChange, PlannedChange } from "../../src/hall/page/config.ts";
import { ask } from "../api.ts";
import { useAction } from "../parts/action.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { go } from "../router.ts";
import { refresh, toast } from "../store.ts";
import { Planned } from "./planned.tsx";

/** Adds servers from a command, a URL or pasted JSON; shows the diff first. */
export function AddServer({ close }: { readonly close: () => void }) {
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const [isApi, setApi] = useState(false);
  const [openapi, setOpenapi] = useState("");
  const [baseUrl, setBaseUrl] = useState("");
  const [plan, setPlan] = useState<PlannedChange>();
  const { run, isBusy, error } = useAction();
  const change: ConfigChange = isApi
    ? { kind: "add", name, openapi, baseUrl }
    : { kind: "add", name, text };

  const look = (): void => run(async () => setPlan(await ask("planChange", { change })));
  const write = (seen: string): void =>
    run(async () => {
      const { servers } = await ask("makeChange", { change, seen });
      toast(`added ${servers.join(", ")}`);
      refresh("servers", "tools");
      // The review comes first: nothing is started before a person has approved it.
      go("review", servers[0] ?? "");
    });

  return (
    <Dialog
      title="Add a server"
      close={close}
      footer={
        plan ? (
          <>
            <button type="button" onClick={() => setPlan(undefined)}>
              Back
            </button>
            <button
              type="button"
              class="primary"
              disabled={isBusy}
              onClick={() => write(plan.before)}
            >
              Write and review
            </button>
          </>
        ) : (
          <>
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button
              type="button"
              class="primary"
              disabled={isBusy || (isApi ? openapi : text).trim() === ""}
              onClick={look}
            >
              Show the change
            </button>
          </>
        )
      }
    >
      {error && <Problem error={error} />}
      {plan ? (
        <Planned plan={plan} />
      ) : (
        <>
          <Tabs
            label="Kinds of servers"
            tabs={{ server: "MCP server", api: "OpenAPI document" }}
            current={isApi ? "api" : "server"}
            choose={(kind) => setApi(kind === "api")}
          />
          {isApi ? (
            <ApiFields
              openapi={openapi}
              baseUrl={baseUrl}
              setOpenapi={setOpenapi}
              setBaseUrl={setBaseUrl}
            />
          ) : (
            <TextField text={text} setText={setText} />
          )}
          <label class="field">
            Name
            <input
              value={name}
              autocomplete="off"
              onInput={(event) => setName(event.currentTarget.value)}
            />
            <small>Tools are listed as name__tool. JSON with names needs none.</small>
          </label>
        </>
      )}
    </Dialog>
  );
}

function TextField(props: { readonly text: string; readonly setText: (text: string) => void }) {
  return (
    <label class="field">
      Command, URL or JSON
      <textarea
        rows={7}
        spellcheck={false}
        placeholder={
          'npx -y @modelcontextprotocol/server-filesystem .\nhttps://example.com/mcp\n{ "mcpServers": { … } }'
        }
        value={props.text}
        onInput={(event) => props.setText(event.currentTarget.value)}
      />
      <small>
        One command line, one URL, the JSON of any client, or a <code>claude mcp add</code> line.
        Keys in it are stored as secrets.
      </small>
    </label>
  );
}

function ApiFields(props: {
  readonly openapi: string;
  readonly baseUrl: string;
  readonly setOpenapi: (text: string) => void;
  readonly setBaseUrl: (text: string) => void;
}) {
  return (
    <>
      <label class="field">
        Document
        <input
          class="mono"
          spellcheck={false}
          placeholder="./openapi.yaml or https://example.com/openapi.json"
          value={props.openapi}
          onInput={(event) => props.setOpenapi(event.currentTarget.value)}
        />
        <small>
          A file in the project's folder, or a URL. Each operation of the API becomes a tool.
        </small>
      </label>
      <label class="field">
        Address of the API
        <input
          class="mono"
          spellcheck={false}
          placeholder="as the document says"
          value={props.baseUrl}
          onInput={(event) => props.setBaseUrl(event.currentTarget.value)}
        />
      </label>
    </>
  );
}
