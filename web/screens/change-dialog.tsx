import { useEffect, useState } from "preact/hooks";
import type { ConfigChange, PlannedChange } from "../../src/hall/page/config.ts";
import { ask } from "../api.ts";
import { useAction } from "../parts/action.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { refresh, toast } from "../store.ts";
import { Planned } from "./planned.tsx";

/** Shows what a change would write, and writes it. */
export function ChangeDialog(props: {
  readonly title: string;
  readonly change: ConfigChange;
  readonly close: () => void;
}) {
  const { change, close } = props;
  const [plan, setPlan] = useState<PlannedChange>();
  const planning = useAction();
  const making = useAction();
  useEffect(() => planning.run(async () => setPlan(await ask("planChange", { change }))), []);
  const make = (seen: string): void =>
    making.run(async () => {
      await ask("makeChange", { change, seen });
      toast(`${props.title}: written`);
      refresh("servers", "tools", "entry");
      close();
    });
  const error = planning.error ?? making.error;
  return (
    <Dialog
      title={props.title}
      close={close}
      footer={
        <>
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button
            type="button"
            class="primary"
            disabled={!plan || making.isBusy || plan.before === plan.after}
            onClick={() => plan && make(plan.before)}
          >
            Write
          </button>
        </>
      }
    >
      {error && <Problem error={error} />}
      {plan && <Planned plan={plan} />}
    </Dialog>
  );
}
