import type { PageServer } from "../../src/hall/page/servers.ts";
import type { Tone } from "./shown.tsx";
import { Badge } from "./shown.tsx";

/** The state of a server in one word, from its config, its review and its process. */
function stateOf({ state, run }: PageServer): readonly [Tone, string] {
  if (state === "disabled") return ["", "disabled"];
  if (state === "held") return ["warn", "needs review"];
  if (state === "unusable") return ["bad", "unusable"];
  switch (run?.kind) {
    case "ready":
      return ["good", "running"];
    case "starting":
      return ["warn", "starting"];
    case "down":
      return run.code === "DENIED" ? ["warn", "needs you"] : ["bad", "down"];
    case "unusable":
      return ["bad", "unusable"];
    default:
      return ["", "starts on use"];
  }
}

export function ServerState({ server }: { readonly server: PageServer }) {
  const [tone, label] = stateOf(server);
  return <Badge tone={tone}>{label}</Badge>;
}

export function ServerDot({ server }: { readonly server: PageServer }) {
  const [tone, label] = stateOf(server);
  return <span class={`dot ${tone}`} role="img" aria-label={label} title={label} />;
}
