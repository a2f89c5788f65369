/** Text of a program or a stranger, as it is. It scrolls, so the keyboard must reach it. */
export function Code(props: {
  readonly label: string;
  readonly text: string;
  readonly tone?: "added" | "removed";
}) {
  return (
    <pre class={`code ${props.tone ?? ""}`} role="region" aria-label={props.label} tabIndex={0}>
      {props.text}
    </pre>
  );
}
