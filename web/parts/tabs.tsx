/** Tabs by key and title; the arrow keys move between them. */
export function Tabs(props: {
  readonly label: string;
  readonly tabs: Readonly<Record<string, string>>;
  readonly current: string;
  readonly choose: (key: string) => void;
}) {
  const keys = Object.keys(props.tabs);
  function press(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = keys[(keys.indexOf(props.current) + step + keys.length) % keys.length];
    if (next !== undefined) props.choose(next);
    event.preventDefault();
  }
  return (
    <div class="tabs" role="tablist" aria-label={props.label} onKeyDown={press}>
      {keys.map((key) => (
        <button
          key={key}
          type="button"
          role="tab"
          aria-selected={key === props.current}
          tabIndex={key === props.current ? 0 : -1}
          onClick={() => props.choose(key)}
        >
          {props.tabs[key]}
        </button>
      ))}
    </div>
  );
}
