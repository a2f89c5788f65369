import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useToasts } from "../store.ts";
import { Icon, type IconName } from "./icon.tsx";

/** The head of a screen and its body. */
export function Page(props: {
  readonly title: string;
  readonly subtitle?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly openMenu: () => void;
  readonly children: ComponentChildren;
}) {
  return (
    <>
      <header>
        <button
          type="button"
          class="plain icon-only menu-button"
          aria-label="Open the navigation"
          onClick={props.openMenu}
        >
          <Icon name="menu" />
        </button>
        <h1>{props.title}</h1>
        {props.subtitle && <span class="subtitle small">{props.subtitle}</span>}
        <div class="actions">{props.actions}</div>
      </header>
      {props.children}
    </>
  );
}

export function Loading() {
  return (
    <div class="empty" role="status">
      <p>Loading …</p>
    </div>
  );
}

/** Says what to do where there is nothing yet. */
export function Empty(props: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <Icon name={props.icon} />
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}

export type Tone = "good" | "warn" | "bad" | "info" | "";

export function Badge({
  tone = "",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {useToasts().map(({ id, text, tone }) => (
        <div key={id} class="toast">
          <span class={tone}>
            <Icon name={tone === "good" ? "check" : "warning"} />
          </span>
          {text}
        </div>
      ))}
    </div>
  );
}

/** A time as people say it; the whole time is in its title. */
export function Ago({ at }: { readonly at: number }) {
  const now = useNow(at > Date.now() - 90_000 ? 1_000 : 30_000);
  return (
    <time dateTime={new Date(at).toISOString()} title={formatTime(at)}>
      {formatAgo(now - at)}
    </time>
  );
}

const clocks = new Map<number, { readonly shown: Set<(now: number) => void>; timer: number }>();

/** The time, again and again. All parts of the page that follow it change together. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const clock = clocks.get(everyMs) ?? { shown: new Set(), timer: 0 };
    clocks.set(everyMs, clock);
    const tick = (): void => {
      const time = Date.now();
      for (const show of clock.shown) show(time);
    };
    if (clock.shown.size === 0) clock.timer = window.setInterval(tick, everyMs);
    clock.shown.add(setNow);
    return () => {
      clock.shown.delete(setNow);
      if (clock.shown.size === 0) clearInterval(clock.timer);
    };
  }, [everyMs]);
  return now;
}

function formatAgo(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.round(hours / 24)} days ago`;
}

export function formatTime(at: number): string {
  const iso = new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString();
  return iso.slice(0, 19).replace("T", " ");
}

export function formatMs(ms: number): string {
  if (ms < 1) return "< 1 ms";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.round(ms / 60_000)} min`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_024 ** 2) return `${(bytes / 1_024).toFixed(1)} KiB`;
  return `${(bytes / 1_024 ** 2).toFixed(1)} MiB`;
}

export function plural(count: number, what: string): string {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}
