/** A JSON value as a tree; large lists are opened on demand. */
export function JsonTree({ value }: { readonly value: unknown }) {
  return (
    <div class="code tree" tabIndex={0} role="group" aria-label="JSON">
      <Node value={value} depth={0} />
    </div>
  );
}

const openDepth = 2;
const itemsMax = 200;
const stringMax = 20_000;

function Node(props: { readonly name?: string; readonly value: unknown; readonly depth: number }) {
  const { name, value, depth } = props;
  const label = name !== undefined && (
    <>
      <span class="key">{name}</span>:{" "}
    </>
  );
  if (typeof value !== "object" || value === null)
    return (
      <>
        {label}
        <Leaf value={value} />
      </>
    );
  const entries = Object.entries(value);
  const brackets = Array.isArray(value) ? "[]" : "{}";
  if (entries.length === 0)
    return (
      <>
        {label}
        <span class="faint">{brackets}</span>
      </>
    );
  return (
    <details open={depth < openDepth && entries.length <= itemsMax}>
      <summary>
        {label}
        {brackets[0]}
        <span class="faint"> {entries.length} </span>
        {brackets[1]}
      </summary>
      <ul>
        {entries.slice(0, itemsMax).map(([key, inner]) => (
          <li key={key}>
            <Node name={key} value={inner} depth={depth + 1} />
          </li>
        ))}
        {entries.length > itemsMax && <li class="faint">{entries.length - itemsMax} more</li>}
      </ul>
    </details>
  );
}

function Leaf({ value }: { readonly value: unknown }) {
  const text = JSON.stringify(value) ?? "undefined";
  const cut = text.length > stringMax ? `${text.slice(0, stringMax)}…` : text;
  return <span class={`leaf ${typeof value}`}>{cut}</span>;
}
