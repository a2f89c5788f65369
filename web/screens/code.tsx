import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ToolFunction } from "../../src/hall/page/programs.ts";
import { useAction } from "../parts/action.ts";
import { Code } from "../parts/code.tsx";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { Running, type RunningCall, useRunning } from "../parts/running.tsx";
import { Search } from "../parts/search.tsx";
import { Empty, formatMs, Page, plural } from "../parts/shown.tsx";
import { useData } from "../store.ts";
import type { ScreenProps } from "./screens.ts";

interface Evaluated {
  readonly id: number;
  readonly code: string;
  readonly text: string;
  readonly isError: boolean;
  readonly ms: number;
  readonly calls: number;
}

/** The session and what was evaluated stay while the page is open, also on other screens. */
const session: { handle: string | undefined; readonly entries: Evaluated[] } = {
  handle: undefined,
  entries: [],
};
let draft = "";
const example = `;; Tools are functions: one package for each server.
(list-tools :match "file")`;

/** A Lisp session: programs that call tools, with their functions beside it. */
export function Programs({ openMenu }: ScreenProps) {
  const [code, setCode] = useState(draft === "" ? example : draft);
  const [entries, setEntries] = useState<readonly Evaluated[]>(session.entries);
  const [mode, setMode] = useState("explore");
  const [past, setPast] = useState(0);
  const { data } = useData("functions", {});
  const functions = data?.functions ?? [];
  const action = useAction();
  const running = useRunning();
  const field = useRef<HTMLTextAreaElement>(null);

  function write(next: string): void {
    draft = next;
    setCode(next);
  }

  function run(): void {
    if (code.trim() === "" || action.isBusy) return;
    action.run(async () => {
      session.entries.push(await evaluate(code, mode, running));
      setEntries([...session.entries]);
      setPast(0);
      write("");
    });
  }

  /** Older programs, as with the arrow keys of a terminal. */
  function recall(step: number): void {
    const next = Math.min(entries.length, Math.max(0, past + step));
    setPast(next);
    write(next === 0 ? "" : (entries.at(-next)?.code ?? ""));
  }

  function press(event: KeyboardEvent): void {
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && isCommand) run();
    else if (event.key === "ArrowUp" && isCommand) recall(1);
    else if (event.key === "ArrowDown" && isCommand) recall(-1);
    else return;
    event.preventDefault();
  }

  return (
    <Page
      title="Code"
      subtitle="one program instead of many calls"
      actions={
        <button
          type="button"
          disabled={session.handle === undefined}
          onClick={() => {
            session.handle = undefined;
            session.entries.length = 0;
            setEntries([]);
          }}
        >
          <Icon name="restart" />
          New session
        </button>
      }
      openMenu={openMenu}
    >
      <div class="split content programs">
        <div class="content program">
          <Results entries={entries} />
          {action.isBusy && <Running running={running} />}
          {action.error && <Problem error={action.error} />}
          <form
            class="composer"
            onSubmit={(event) => {
              event.preventDefault();
              run();
            }}
          >
            <textarea
              ref={field}
              rows={5}
              aria-label="Program"
              spellcheck={false}
              value={code}
              onInput={(event) => write(event.currentTarget.value)}
              onKeyDown={press}
            />
            <Completions
              code={code}
              functions={functions}
              choose={(name) => {
                write(code.replace(/[^\s()'"]*$/, name));
                field.current?.focus();
              }}
            />
            <div class="row wrap">
              <button type="submit" class="primary" disabled={action.isBusy}>
                <Icon name="play" />
                {action.isBusy ? "Running …" : "Run"}
              </button>
              <Rights mode={mode} choose={setMode} />
              <span class="faint small end">
                <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs · <kbd>Ctrl</kbd> <kbd>↑</kbd> history
              </span>
            </div>
          </form>
        </div>
        <Functions
          functions={functions}
          insert={(text) => {
            write(code === example ? text : `${code}${code === "" ? "" : "\n"}${text}`);
            field.current?.focus();
          }}
        />
      </div>
    </Page>
  );
}

function Rights(props: { readonly mode: string; readonly choose: (mode: string) => void }) {
  return (
    <select
      aria-label="Rights"
      value={props.mode}
      onChange={(event) => props.choose(event.currentTarget.value)}
    >
      <option value="explore">explore: reads only</option>
      <option value="act">act: changing tools may ask</option>
    </select>
  );
}

async function evaluate(code: string, mode: string, { call }: RunningCall): Promise<Evaluated> {
  const args = { code, mode, ...(session.handle ? { session: session.handle } : {}) };
  const { outcome, ms } = await call("evaluate-lisp", args);
  const about = (outcome.structuredContent ?? {}) as {
    readonly session?: string;
    readonly calls?: readonly unknown[];
  };
  if (about.session !== undefined) session.handle = about.session;
  return {
    id: session.entries.length,
    code,
    text: textOf(outcome.content),
    isError: outcome.isError === true,
    ms,
    calls: about.calls?.length ?? 0,
  };
}

function Results({ entries }: { readonly entries: readonly Evaluated[] }) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: "end" }), [entries.length]);
  return (
    <div class="results" role="log" aria-label="Results">
      {entries.length === 0 && (
        <Empty icon="code" title="Nothing evaluated yet">
          <p>A program calls many tools and returns only what you need. Definitions stay.</p>
        </Empty>
      )}
      {entries.map((entry) => (
        <article key={entry.id} class="stack tight">
          <pre class="mono given">{entry.code}</pre>
          <Code
            label={`Result ${entry.id + 1}`}
            text={entry.text}
            {...(entry.isError ? { tone: "removed" } : {})}
          />
          <span class="faint small">
            {formatMs(entry.ms)}
            {entry.calls > 0 && ` · ${plural(entry.calls, "call")}`}
          </span>
        </article>
      ))}
      <div ref={end} />
    </div>
  );
}

/** The first part is for people, the others are notes for models. */
function textOf(content: readonly unknown[] | undefined): string {
  const { text } = (content?.[0] ?? {}) as { readonly text?: unknown };
  return typeof text === "string" ? text : "";
}

const completionsMax = 6;

/** Functions that begin with the word before the cursor. */
function Completions(props: {
  readonly code: string;
  readonly functions: readonly ToolFunction[];
  readonly choose: (name: string) => void;
}) {
  const word = /[^\s()'"]{2,}$/.exec(props.code)?.[0]?.toLowerCase();
  if (word === undefined) return null;
  const found = props.functions
    .map(({ name }) => name.toLowerCase())
    .filter((name) => name !== word && (name.startsWith(word) || name.includes(`:${word}`)))
    .slice(0, completionsMax);
  if (found.length === 0) return null;
  return (
    <div class="row wrap" role="group" aria-label="Completions">
      {found.map((name) => (
        <button key={name} type="button" class="tiny mono" onClick={() => props.choose(name)}>
          {name}
        </button>
      ))}
    </div>
  );
}

const shownMax = 200;

function Functions(props: {
  readonly functions: readonly ToolFunction[];
  readonly insert: (text: string) => void;
}) {
  const [text, setText] = useState("");
  const found = useMemo(() => {
    const wanted = text.toLowerCase();
    return props.functions.filter(
      ({ name, description }) =>
        name.toLowerCase().includes(wanted) || description.toLowerCase().includes(wanted),
    );
  }, [props.functions, text]);
  return (
    <aside class="detail" aria-label="Tools as functions">
      <header>
        <h2>Tools as functions</h2>
        <Search value={text} label="Find a function" change={setText} />
      </header>
      <div class="list-lines">
        {found.slice(0, shownMax).map((one) => (
          <button
            key={one.tool}
            type="button"
            class="plain function"
            title={one.description}
            onClick={() => props.insert(callOf(one))}
          >
            <span class="mono ellipsis">{one.name.toLowerCase()}</span>
            <span class="faint small ellipsis">{one.description}</span>
          </button>
        ))}
      </div>
      {found.length > shownMax && (
        <p class="faint small body">and {found.length - shownMax} more; search to see them</p>
      )}
    </aside>
  );
}

function callOf({ name, parameters }: ToolFunction): string {
  const needed = parameters.filter(({ isRequired }) => isRequired);
  const args = needed.map((parameter) => ` :${parameter.name.toLowerCase()} ""`);
  return `(${name.toLowerCase()}${args.join("")})`;
}
