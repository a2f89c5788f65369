import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";

/** A dialog over the page; Escape closes it. */
export function Dialog(props: {
  readonly title: string;
  readonly close: () => void;
  readonly footer?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={title}
      onCancel={(event) => {
        event.preventDefault();
        props.close();
      }}
    >
      <header>
        <h2 id={title}>{props.title}</h2>
        <button type="button" class="plain icon-only" aria-label="Close" onClick={props.close}>
          <Icon name="close" />
        </button>
      </header>
      <div class="body stack">{props.children}</div>
      {props.footer && <footer>{props.footer}</footer>}
    </dialog>
  );
}
