import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Column<Row> {
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
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly selected?: string | undefined;
  readonly open?: (row: Row) => void;
}) {
  const { rows, keyOf, selected, open } = props;
  const box = useRef<HTMLDivElement>(null);
  const { top, height, width } = useView(box);
  const [active, setActive] = useState(0);
  const columns = props.columns.filter(({ isWide }) => !isWide || width > 720);
  const template = columns.map((column) => column.width).join(" ");
  const first = Math.max(0, Math.floor(top / rowPx) - overscan);
  const last = Math.min(rows.length, Math.ceil((top + height) / rowPx) + overscan);

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
    const row = rows[active];
    if (event.key === "Enter" && row !== undefined) open?.(row);
    else if (step !== undefined) move(active + step);
    else return;
    event.preventDefault();
  }

  function move(to: number): void {
    const next = Math.min(rows.length - 1, Math.max(0, to));
    setActive(next);
    const view = box.current;
    if (!view) return;
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
        {rows.slice(first, last).map((row, offset) => {
          const index = first + offset;
          const key = keyOf(row);
          return (
            <div
              key={key}
              role="row"
              class="line"
              data-index={index}
              aria-rowindex={index + 2}
              aria-selected={key === selected}
              tabIndex={index === active || (offset === 0 && active < first) ? 0 : -1}
              style={{ top: `${index * rowPx}px`, gridTemplateColumns: template }}
              onFocus={() => setActive(index)}
              onClick={() => open?.(row)}
            >
              {columns.map((column) => (
                <div role="gridcell" key={column.title} class={column.isRight ? "right" : ""}>
                  {column.show(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** `--row` in the tokens. */
const rowPx = 38;
const headPx = 34;
const overscan = 12;

interface View {
  readonly top: number;
  readonly height: number;
  readonly width: number;
}

function useView(box: { readonly current: HTMLDivElement | null }): View {
  const [view, setView] = useState<View>({ top: 0, height: 800, width: innerWidth });
  useLayoutEffect(() => {
    const element = box.current;
    if (element) setView(measure(element));
  }, []);
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
  return { top: scrollTop, height: clientHeight, width: clientWidth };
}
