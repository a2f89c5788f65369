import { useState } from "preact/hooks";
import { ask } from "../api.ts";
import { useAction } from "../parts/action.ts";
import { Problem } from "../parts/problem.tsx";
import { refresh, toast } from "../store.ts";

/** A variable without a value: it becomes a secret of the project. */
export function SecretForm({ name }: { readonly name: string }) {
  const [value, setValue] = useState("");
  const { run, isBusy, error } = useAction();
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        run(async () => {
          await ask("setSecret", { name, value });
          setValue("");
          toast(`${name} is stored as a secret of this project`);
          refresh("servers");
        });
      }}
    >
      <label class="field">
        {name}
        <div class="row">
          <input
            type="password"
            autocomplete="off"
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
          <button type="submit" disabled={isBusy || value === ""}>
            Store
          </button>
        </div>
        <small>
          The server cannot start without it. It is stored as a secret, not in guildhall.json.
        </small>
      </label>
      {error && <Problem error={error} />}
    </form>
  );
}
