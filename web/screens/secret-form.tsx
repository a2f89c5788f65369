import { useState } from "preact/hooks";
import { useAction } from "../parts/action.ts";
import { Problem } from "../parts/problem.tsx";

interface SecretFormProps {
  readonly name: string;
  readonly note: string;
  readonly button: string;
  store(value: string): Promise<void>;
}

/** Asks for the value of a secret, which is never shown again. */
export function SecretForm({ name, note, button, store }: SecretFormProps) {
  const [value, setValue] = useState("");
  const { run, isBusy, error } = useAction();
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        run(async () => {
          await store(value);
          setValue("");
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
            {button}
          </button>
        </div>
        <small>{note}</small>
      </label>
      {error && <Problem error={error} />}
    </form>
  );
}
