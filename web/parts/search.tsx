import { Icon } from "./icon.tsx";

/** The search field of a screen; `/` focuses it. */
export function Search(props: {
  readonly value: string;
  readonly label: string;
  readonly change: (value: string) => void;
}) {
  return (
    <div class="search">
      <Icon name="search" />
      <input
        type="search"
        data-search
        aria-label={props.label}
        placeholder={props.label}
        value={props.value}
        onInput={(event) => props.change(event.currentTarget.value)}
      />
      <kbd>/</kbd>
    </div>
  );
}
