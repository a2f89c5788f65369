import { useMemo, useState } from "preact/hooks";
import type { ToolFunction } from "../../src/hall/page/programs.ts";
import { Search } from "../parts/search.tsx";

const completionsMax = 6;

/** Functions that begin with the word before the cursor. */
export function Completions(props: {
  readonly code: string;
  readonly language: string;
  readonly functions: readonly ToolFunction[];
  readonly choose: (name: string) => void;
}) {
  const word = /[^\s()'"]{2,}$/.exec(props.code)?.[0]?.toLowerCase();
  if (word === undefined) return null;
  const found = props.functions
    .map((one) => nameOf(one, props.language))
    .filter((name) => {
      const lower = name.toLowerCase();
      return lower !== word && (lower.startsWith(word) || lower.includes(`:${word}`));
    })
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

export function Functions(props: {
  readonly language: string;
  readonly functions: readonly ToolFunction[];
  readonly insert: (text: string) => void;
}) {
  const [text, setText] = useState("");
  const found = useMemo(() => {
    const wanted = text.toLowerCase();
    return props.functions.filter(
      (one) =>
        nameOf(one, props.language).toLowerCase().includes(wanted) ||
        one.description.toLowerCase().includes(wanted),
    );
  }, [props.functions, props.language, text]);
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
            onClick={() => props.insert(callOf(one, props.language))}
          >
            <span class="mono ellipsis">{nameOf(one, props.language)}</span>
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

function nameOf({ name, jsName }: ToolFunction, language: string): string {
  return language === "js" ? jsName : name.toLowerCase();
}

function callOf(one: ToolFunction, language: string): string {
  const needed = one.parameters.filter(({ isRequired }) => isRequired);
  if (language === "js") {
    const fields = needed.map(({ key }) => `${JSON.stringify(key)}: ""`).join(", ");
    return `await ${one.jsName}({ ${fields} })`;
  }
  const args = needed.map((parameter) => ` :${parameter.name.toLowerCase()} ""`);
  return `(${one.name.toLowerCase()}${args.join("")})`;
}
