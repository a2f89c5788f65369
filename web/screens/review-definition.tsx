import type { ReviewedItem } from "../../src/hall/changes.ts";
import { Code } from "../parts/code.tsx";
import { Badge, type Tone } from "../parts/shown.tsx";

const states: Readonly<Record<ReviewedItem["state"], readonly [Tone, string]>> = {
  new: ["info", "new"],
  changed: ["warn", "changed"],
  again: ["info", "to look at again"],
  same: ["", "unchanged"],
};

/** A definition as a model would read it; where it changed, both side by side. */
export function Definition(props: {
  readonly kind: string;
  readonly item: ReviewedItem;
  readonly isAsking?: boolean;
  readonly toggle?: () => void;
}) {
  const { kind, item, isAsking = false, toggle } = props;
  const [tone, label] = states[item.state];
  const description = item.definition.description;
  return (
    <details class="definition" open={item.state === "changed" || item.suspicions.length > 0}>
      <summary>
        <strong class="ellipsis">{item.name}</strong>
        <span class="faint small ellipsis what">
          {typeof description === "string" ? description : kind}
        </span>
        {isAsking && <Badge tone="warn">asks</Badge>}
        {item.state !== "same" && <Badge tone={tone}>{label}</Badge>}
        {item.suspicions.length > 0 && <Badge tone="bad">suspicious text</Badge>}
      </summary>
      <div class="stack">
        {toggle && (
          <label class="check">
            <input type="checkbox" checked={isAsking} onChange={toggle} />
            Ask before every call
            {item.why?.effect !== undefined && <span class="faint small">{item.why.effect}</span>}
          </label>
        )}
        {item.suspicions.map(({ why, excerpt }) => (
          <p key={`${why} ${excerpt}`} class="suspicion">
            <strong>{why}</strong> <code>{excerpt}</code>
          </p>
        ))}
        {(item.fields ?? []).map(({ field, before, now }) => (
          <div key={field} class="stack tight">
            <h3>{field}</h3>
            <div class="sides">
              <div class="stack tight">
                <span class="faint small">Before</span>
                <Code label={`${field} before`} text={write(before)} tone="removed" />
              </div>
              <div class="stack tight">
                <span class="faint small">Now</span>
                <Code label={`${field} now`} text={write(now)} tone="added" />
              </div>
            </div>
          </div>
        ))}
        {item.state !== "changed" && (
          <>
            {typeof description === "string" && <p>{description}</p>}
            <Code
              label={`Definition of ${item.name}`}
              text={JSON.stringify(item.definition, null, 2)}
            />
          </>
        )}
      </div>
    </details>
  );
}

function write(value: unknown): string {
  if (value === undefined) return "(nothing)";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
