import type { PlannedChange } from "../../src/hall/page/config.ts";
import { Diff } from "../parts/diff.tsx";

/** The file before and after, and what else the change does. */
export function Planned({ plan }: { readonly plan: PlannedChange }) {
  return (
    <div class="stack">
      <p class="soft">
        {plan.before === plan.after ? "Nothing changes in " : "Changes "}
        <code>{plan.file}</code>
      </p>
      <Diff before={plan.before} after={plan.after} />
      {plan.notes.map((note) => (
        <p key={note} class="soft small">
          {note}
        </p>
      ))}
      {plan.secrets.map((name) => (
        <p key={name} class="small">
          <code>{name}</code> is stored as a secret of this project, not in the file.
        </p>
      ))}
      {plan.variables.map((name) => (
        <p key={name} class="small warn">
          <code>{name}</code> has no value yet. You can set it after this.
        </p>
      ))}
    </div>
  );
}
