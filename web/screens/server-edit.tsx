import { useState } from "preact/hooks";
import type { JsonObject } from "../../src/base/json.ts";
import { Problem } from "../parts/problem.tsx";
import { useData } from "../store.ts";
import { ChangeDialog } from "./change-dialog.tsx";

/** The entry of a server as JSON. What is typed stays until it is written. */
export function EditServer({ name }: { readonly name: string }) {
  const { data, error } = useData("entry", { server: name });
  const [typed, setTyped] = useState<string>();
  const [entry, setEntry] = useState<JsonObject>();
  const [fault, setFault] = useState("");
  const text = typed ?? (data ? JSON.stringify(data.entry, null, 2) : "");

  function look(): void {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value !== "object" || value === null || Array.isArray(value))
        throw new Error("the entry must be an object");
      setFault("");
      setEntry(value as JsonObject);
    } catch (problem) {
      setFault(problem instanceof Error ? problem.message : String(problem));
    }
  }

  return (
    <div class="body">
      {error && <Problem error={error} />}
      <label class="field">
        Entry in guildhall.json
        <textarea
          rows={16}
          spellcheck={false}
          value={text}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      {fault !== "" && (
        <p class="bad" role="alert">
          {fault}
        </p>
      )}
      <div class="row">
        <button type="button" class="primary" disabled={typed === undefined} onClick={look}>
          Show the change
        </button>
        <button type="button" disabled={typed === undefined} onClick={() => setTyped(undefined)}>
          Discard
        </button>
      </div>
      {entry && (
        <ChangeDialog
          title={`edit ${name}`}
          change={{ kind: "edit", server: name, entry }}
          close={() => {
            setEntry(undefined);
          }}
        />
      )}
    </div>
  );
}
