import type { Advice } from "../../src/base/advice.ts";
import type { PageError } from "../../src/hall/page/contract.ts";
import { go } from "../router.ts";
import { toast } from "../store.ts";
import { Icon } from "./icon.tsx";

/** A failure with its next steps as buttons. */
export function Problem({ error }: { readonly error: PageError }) {
  return (
    <div class="problem" role="alert">
      <strong>{error.message}</strong>
      {error.hint && <span class="soft">{error.hint}</span>}
      <Steps next={error.next} />
    </div>
  );
}

export function Steps({ next }: { readonly next: readonly Advice[] }) {
  if (next.length === 0) return null;
  return (
    <div class="row wrap">
      {next.map((advice) => (
        <Step key={JSON.stringify(advice)} advice={advice} />
      ))}
    </div>
  );
}

function Step({ advice }: { readonly advice: Advice }) {
  switch (advice.do) {
    case "approve":
      return <Go label="Open approvals" to={["approvals"]} />;
    case "verify":
      return <Go label="Review it" to={["review", ...(advice.server ? [advice.server] : [])]} />;
    case "trust":
      return <Go label={`Show ${advice.tool}`} to={["tools", advice.tool]} />;
    case "call-tool":
      return <Go label={`Call ${advice.tool}`} to={["tools", advice.tool]} />;
    case "login":
      return <Go label="Log in" to={["servers", advice.server]} />;
    case "set-variable":
      return <Copy text={`guildhall secret set ${advice.name}`} />;
    case "edit-config":
      return <Copy text={advice.field} />;
    case "run-step":
      return <Copy text={`guildhall spec run ${advice.step}`} />;
    case "run-command":
      return <Copy text={`guildhall ${advice.command}`} />;
    case "retry-after":
      return <span class="soft small">Try again in {advice.seconds} s.</span>;
  }
}

function Go({ label, to }: { readonly label: string; readonly to: readonly string[] }) {
  return (
    <button type="button" class="tiny" onClick={() => go(...to)}>
      {label}
    </button>
  );
}

/** A command for the terminal. */
export function Copy({ text }: { readonly text: string }) {
  const copy = (): void =>
    void navigator.clipboard.writeText(text).then(
      () => toast("copied"),
      () => toast("the browser does not allow copying", "bad"),
    );
  return (
    <button type="button" class="tiny copy" title="Copy" onClick={copy}>
      <Icon name="copy" />
      <code class="ellipsis">{text}</code>
    </button>
  );
}
