import { useEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../parts/action.ts";
import { Code } from "../parts/code.tsx";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { Running, type RunningCall, useRunning } from "../parts/running.tsx";
import { Empty, formatMs, Page, plural } from "../parts/shown.tsx";
import { useData } from "../store.ts";
import { Completions, Functions } from "./code-functions.tsx";
import { type Program, SaveProgram } from "./save-program.tsx";
import type { ScreenProps } from "./screens.ts";

interface Evaluated extends Program {
  readonly id: number;
  readonly text: string;
  readonly isError: boolean;
  readonly ms: number;
  readonly calls: number;
}

/** Sessions, one for each language, and what was evaluated stay while the page is open. */
const session: { handles: Record<string, string>; readonly entries: Evaluated[] } = {
  handles: {},
  entries: [],
};
let draft = "";
const example = `;; Tools are functions: one package for each server.
(list-tools :match "file")`;
const languageNames: Readonly<Record<string, string>> = { lisp: "Lisp", js: "JavaScript" };

/** A session: programs that call tools, with their functions beside it. */
export function Programs({ openMenu }: ScreenProps) {
  const [code, setCode] = useState(draft === "" ? example : draft);
  const [entries, setEntries] = useState<readonly Evaluated[]>(session.entries);
  const [mode, setMode] = useState("explore");
  const [past, setPast] = useState(0);
  const [chosen, setChosen] = useState<string>();
  const [saving, setSaving] = useState<Program>();
  const { data } = useData("functions", {});
  const functions = data?.functions ?? [];
  const languages = data?.languages ?? ["lisp"];
  const language = chosen ?? languages[0] ?? "lisp";
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
      session.entries.push(await evaluate({ code, mode, language }, running));
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
        <NewSession
          isDisabled={entries.length === 0}
          begin={() => {
            session.handles = {};
            session.entries.length = 0;
            setEntries([]);
          }}
        />
      }
      openMenu={openMenu}
    >
      <div class="split content programs">
        <div class="content program">
          <Results entries={entries} save={setSaving} />
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
              language={language}
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
              <Languages names={languages} chosen={language} choose={setChosen} />
              <Rights mode={mode} choose={setMode} />
              <span class="faint small end hint">
                <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs · <kbd>Ctrl</kbd> <kbd>↑</kbd> history
              </span>
            </div>
          </form>
        </div>
        <Functions
          language={language}
          functions={functions}
          insert={(text) => {
            write(code === example ? text : `${code}${code === "" ? "" : "\n"}${text}`);
            field.current?.focus();
          }}
        />
      </div>
      {saving && <SaveProgram program={saving} close={() => setSaving(undefined)} />}
    </Page>
  );
}

function NewSession(props: { readonly isDisabled: boolean; readonly begin: () => void }) {
  return (
    <button type="button" disabled={props.isDisabled} onClick={props.begin}>
      <Icon name="restart" />
      New session
    </button>
  );
}

function Languages(props: {
  readonly names: readonly string[];
  readonly chosen: string;
  readonly choose: (name: string) => void;
}) {
  if (props.names.length < 2) return null;
  return (
    <select
      aria-label="Language"
      value={props.chosen}
      onChange={(event) => props.choose(event.currentTarget.value)}
    >
      {props.names.map((name) => (
        <option key={name} value={name}>
          {languageNames[name]}
        </option>
      ))}
    </select>
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

async function evaluate(program: Program, { call }: RunningCall): Promise<Evaluated> {
  const { code, mode, language } = program;
  const handle = session.handles[language];
  const args = { code, mode, ...(handle === undefined ? {} : { session: handle }) };
  const { outcome, ms } = await call(`evaluate-${language}`, args);
  const about = (outcome.structuredContent ?? {}) as {
    readonly session?: string;
    readonly calls?: readonly unknown[];
  };
  if (about.session !== undefined) session.handles[language] = about.session;
  return {
    ...program,
    id: session.entries.length,
    text: textOf(outcome.content),
    isError: outcome.isError === true,
    ms,
    calls: about.calls?.length ?? 0,
  };
}

function Results(props: {
  readonly entries: readonly Evaluated[];
  readonly save: (program: Program) => void;
}) {
  const { entries } = props;
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
          <span class="row faint small">
            {formatMs(entry.ms)}
            {entry.calls > 0 && ` · ${plural(entry.calls, "call")}`}
            {!entry.isError && (
              <button type="button" class="tiny end" onClick={() => props.save(entry)}>
                Save as a tool
              </button>
            )}
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
