import { useState } from "preact/hooks";
import { ask } from "../api.ts";
import { useAction } from "../parts/action.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { go } from "../router.ts";
import { refresh, toast } from "../store.ts";

export interface Program {
  readonly code: string;
  readonly language: string;
  readonly mode: string;
}

/** Saves a program as a tool of the project; a person approves it in the review that follows. */
export function SaveProgram(props: { readonly program: Program; readonly close: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const { run, isBusy, error } = useAction();
  const save = (): void =>
    run(async () => {
      const { code, language, mode } = props.program;
      const { file } = await ask("saveProgram", {
        name,
        language,
        code,
        act: mode === "act",
        ...(description.trim() === "" ? {} : { description: description.trim() }),
      });
      toast(`saved ${file}`);
      await ask("beginReview", {});
      refresh("review");
      go("review");
    });
  return (
    <Dialog
      title="Save as a tool"
      close={props.close}
      footer={
        <>
          <button type="button" onClick={props.close}>
            Cancel
          </button>
          <button
            type="button"
            class="primary"
            disabled={isBusy || name.trim() === ""}
            onClick={save}
          >
            Save and review
          </button>
        </>
      }
    >
      {error && <Problem error={error} />}
      <label class="field">
        Name
        <input
          value={name}
          autocomplete="off"
          placeholder="open_issues"
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <small>Clients see it as programs__name.</small>
      </label>
      <label class="field">
        Description
        <input value={description} onInput={(event) => setDescription(event.currentTarget.value)} />
        <small>Models choose tools by their descriptions.</small>
      </label>
      <pre class="mono given">{props.program.code}</pre>
    </Dialog>
  );
}
