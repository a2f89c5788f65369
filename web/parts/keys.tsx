import { useEffect, useState } from "preact/hooks";
import { go } from "../router.ts";
import { screens } from "../screens/screens.ts";
import { Dialog } from "./dialog.tsx";

const goMs = 1_000;

/** The keys of the page: `/` searches, `?` shows them all, `g` and a letter opens a screen. */
export function Keys() {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    let goneAt = 0;
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const isGoing = Date.now() - goneAt < goMs;
      goneAt = 0;
      const screen = isGoing ? screens.find(({ key }) => key === event.key) : undefined;
      if (screen) go(screen.path);
      else if (event.key === "g") goneAt = Date.now();
      else if (event.key === "?") setShown(true);
      else if (event.key === "/") focusSearch();
      else if (event.key === "Escape" && !document.querySelector("dialog[open]")) closeDetail();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  if (!isShown) return null;
  return (
    <Dialog title="Keys" close={() => setShown(false)}>
      <dl class="facts">
        <Key keys={["/"]} does="Search on this screen" />
        <Key keys={["?"]} does="Show the keys" />
        <Key keys={["↑", "↓"]} does="Move in a list" />
        <Key keys={["Enter"]} does="Open the selected line" />
        <Key keys={["Esc"]} does="Close" />
        {screens.map(({ key, title }) => (
          <Key key={key} keys={["g", key]} does={`Open ${title}`} />
        ))}
      </dl>
    </Dialog>
  );
}

function Key({ keys, does }: { readonly keys: readonly string[]; readonly does: string }) {
  return (
    <>
      <dt>
        {keys.map((name) => (
          <kbd key={name}>{name}</kbd>
        ))}
      </dt>
      <dd>{does}</dd>
    </>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
}

/** The list has the focus again, at the line that was open. */
function closeDetail(): void {
  const button = document.querySelector<HTMLElement>('.detail [aria-label="Close"]');
  if (!button) return;
  const line = (): HTMLElement | null => document.querySelector('.table .line[tabindex="0"]');
  // Shown again in the frame after the address has changed.
  addEventListener("hashchange", () => requestAnimationFrame(() => line()?.focus()), {
    once: true,
  });
  button.click();
}

function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("[data-search]");
  if (field) field.focus();
  else go("tools");
}
