import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface TableColumn<Row> {
  readonly title: string;
  /** As in grid-template-columns. */
  readonly width: string;
  readonly isRight?: boolean;
  /** Left out where there is little room. */
  readonly isWide?: boolean;
  show(row: Row): ComponentChildren;
}

/**
 * A table of any length: only the lines in view are in the document. Arrow keys move, Enter opens.
 */
export function Table<Row>(props: {
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly selected?: string | undefined;
  readonly open?: (row: Row) => void;
}) {
  const { rows, keyOf, selected, open } = props;
  const box = useRef<HTMLDivElement>(null);
  const { top, height, width, overscan } = useView(box);
  // By key: lines that arrive above it must not move the focus to another one.
  const [active, setActive] = useState(selected ?? "");
  const columns = props.columns.filter(({ isWide }) => !isWide || width > 720);
  const template = columns.map((column) => column.width).join(" ");
  const first = Math.max(0, Math.floor(top / rowPx) - overscan);
  const last = Math.min(rows.length, Math.ceil((top + height) / rowPx) + overscan);
  // One line can always be reached with Tab. The active one stays in the document when it is out of view, so that it
  // keeps the focus.
  const at = active === "" ? -1 : rows.findIndex((row) => keyOf(row) === active);
  const indexes = Array.from({ length: last - first }, (_, offset) => first + offset);
  if (at !== -1 && at < first) indexes.unshift(at);
  if (at >= last) indexes.push(at);
  const shown = indexes.flatMap((index) => {
    const row = rows[index];
    return row === undefined ? [] : [{ row, key: keyOf(row), index }];
  });
  const reachable = at === -1 ? shown[0]?.key : active;
  const slots = useSlots(shown.map(({ key }) => key));
  useAnchor(box, rows, keyOf);

  function press(event: KeyboardEvent): void {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: Math.floor(height / rowPx),
      PageUp: -Math.floor(height / rowPx),
      Home: -rows.length,
      End: rows.length,
    };
    const step = steps[event.key];
    const from = at === -1 ? first : at;
    const row = rows[from];
    if (event.key === "Enter" && row !== undefined) open?.(row);
    else if (step !== undefined) move(from + step);
    else return;
    event.preventDefault();
  }

  function move(to: number): void {
    const next = Math.min(rows.length - 1, Math.max(0, to));
    const view = box.current;
    const row = rows[next];
    if (!view || row === undefined) return;
    setActive(keyOf(row));
    const y = next * rowPx;
    if (y < view.scrollTop) view.scrollTop = y;
    if (y + rowPx + headPx > view.scrollTop + height) view.scrollTop = y + rowPx + headPx - height;
    requestAnimationFrame(() => view.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus());
  }

  return (
    <div
      ref={box}
      class="table"
      role="grid"
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      onKeyDown={press}
    >
      <div role="rowgroup">
        <div role="row" class="head" style={{ gridTemplateColumns: template }}>
          {columns.map(({ title, isRight }) => (
            <div role="columnheader" key={title} class={isRight ? "right" : ""}>
              {title}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" style={{ position: "relative", height: `${rows.length * rowPx}px` }}>
        {shown.map(({ row, key, index }) => (
          <div
            key={slots.get(key)}
            role="row"
            class="line"
            data-index={index}
            aria-rowindex={index + 2}
            aria-selected={key === selected}
            tabIndex={key === reachable ? 0 : -1}
            style={{ top: `${index * rowPx}px`, gridTemplateColumns: template }}
            onFocus={() => setActive(key)}
            onClick={() => open?.(row)}
          >
            {columns.map((column) => (
              <div role="gridcell" key={column.title} class={column.isRight ? "right" : ""}>
                {column.show(row)}
              </div>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

/** `--row` in the tokens. */
const rowPx = 38;
const headPx = 34;

/**
 * A number for the element of each line. A line that comes into view takes the element of one that left it, which costs
 * less than a new one; a line that stays keeps its own, and with it the focus.
 */
function useSlots(keys: readonly string[]): ReadonlyMap<string, number> {
  const slots = useRef<ReadonlyMap<string, number>>(new Map());
  const before = slots.current;
  const shown = new Set(keys);
  const free = [...before].filter(([key]) => !shown.has(key)).map(([, slot]) => slot);
  let next = Math.max(-1, ...before.values()) + 1;
  slots.current = new Map(keys.map((key) => [key, before.get(key) ?? free.pop() ?? next++]));
  return slots.current;
}

/** Keeps the lines in view where they are when others arrive above them. */
function useAnchor<Row>(
  box: { readonly current: HTMLDivElement | null },
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): void {
  const before = useRef(rows);
  useLayoutEffect(() => {
    const view = box.current;
    const at = Math.floor((view?.scrollTop ?? 0) / rowPx);
    const anchor = before.current[at];
    before.current = rows;
    if (!view || at === 0 || anchor === undefined) return;
    const key = keyOf(anchor);
    const now = rows.findIndex((row) => keyOf(row) === key);
    if (now > at) view.scrollTop += (now - at) * rowPx;
  }, [rows]);
}

interface View {
  readonly top: number;
  readonly height: number;
  readonly width: number;
  /** Lines above and below that are ready for scrolling. */
  readonly overscan: number;
}

function useView(box: { readonly current: HTMLDivElement | null }): View {
  // The first picture has only what fits into the window.
  const [view, setView] = useState<View>({
    top: 0,
    height: innerHeight - 4 * rowPx,
    width: innerWidth,
    overscan: 0,
  });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let frame = 0;
    const update = (): void => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => setView(measure(element)));
    };
    element.addEventListener("scroll", update, { passive: true });
    const observer = new ResizeObserver(update);
    observer.observe(element);
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener("scroll", update);
      observer.disconnect();
    };
  }, []);
  return view;
}

function measure({ scrollTop, clientHeight, clientWidth }: HTMLDivElement): View {
  return { top: scrollTop, height: clientHeight, width: clientWidth, overscan: 12 };
}
