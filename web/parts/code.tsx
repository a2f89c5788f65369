/** Untrusted text, shown unchanged. It can be focused, so that it scrolls with the keyboard. */
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
