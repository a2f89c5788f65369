import { useState } from "preact/hooks";
import type { PlannedChange } from "../../src/hall/page/config.ts";
import { ask } from "../api.ts";
import { useAction } from "../parts/action.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { go } from "../router.ts";
import { refresh, toast } from "../store.ts";
import { Planned } from "./planned.tsx";

/** Adds servers from a command, a URL or pasted JSON; shows the diff first. */
export function AddServer({ close }: { readonly close: () => void }) {
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const [plan, setPlan] = useState<PlannedChange>();
  const { run, isBusy, error } = useAction();
  const change = { kind: "add", name, text } as const;

  const look = (): void => run(async () => setPlan(await ask("planChange", { change })));
  const write = (seen: string): void =>
    run(async () => {
      const { servers } = await ask("makeChange", { change, seen });
      toast(`added ${servers.join(", ")}`);
      refresh("servers", "tools");
      // Nothing of it runs before a person has seen what would run.
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
              disabled={isBusy || text.trim() === ""}
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
          <label class="field">
            Command, URL or JSON
            <textarea
              rows={7}
              spellcheck={false}
              placeholder={
                'npx -y @modelcontextprotocol/server-filesystem .\nhttps://example.com/mcp\n{ "mcpServers": { … } }'
              }
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <small>
              One command line, one URL, the JSON of any client, or a <code>claude mcp add</code>{" "}
              line. Keys in it are stored as secrets.
            </small>
          </label>
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
