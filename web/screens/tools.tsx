import { useEffect, useMemo, useState } from "preact/hooks";
import type { FoundTool, ToolLine } from "../../src/hall/page/tools.ts";
import type { Field } from "../../src/ranking/document.ts";
import type { RankReasons } from "../../src/ranking/ranker.ts";
import { ask } from "../api.ts";
import { useAction } from "../parts/action.ts";
import { Problem } from "../parts/problem.tsx";
import { Search } from "../parts/search.tsx";
import { Empty, Loading, Page, plural } from "../parts/shown.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { go } from "../router.ts";
import { useData } from "../store.ts";
import type { ScreenProps } from "./screens.ts";
import { Class, ToolDetail } from "./tool-detail.tsx";

interface Line extends ToolLine {
  readonly found?: FoundTool | undefined;
}

const name: TableColumn<Line> = {
  title: "Tool",
  width: "minmax(160px, 1fr)",
  show: (tool) => <strong class="mono">{tool.name}</strong>,
};
const effect: TableColumn<Line> = {
  title: "Class",
  width: "92px",
  show: (tool) => <Class tool={tool} />,
};
const description: TableColumn<Line> = {
  title: "Description",
  width: "minmax(160px, 2fr)",
  isWide: true,
  show: (tool) => <span class="faint">{tool.description}</span>,
};
const reasons: TableColumn<Line> = {
  title: "Why it was found",
  width: "minmax(240px, 1.4fr)",
  isWide: true,
  show: ({ found }) => found?.reasons && <Reasons found={found} reasons={found.reasons} />,
};

const fieldNames: Readonly<Record<Field, string>> = {
  name: "name",
  description: "description",
  toolkit: "server",
  toolkitDescription: "server's description",
  parameters: "parameter",
  parameterDescriptions: "parameter's description",
  choices: "choice",
  aliases: "alias",
};

const wordsShown = 3;

/** The score, the words that match with the part of the tool that has them, and the share of the vectors. */
function Reasons(props: { readonly found: FoundTool; readonly reasons: RankReasons }) {
  const { matches, vectorShare, likeness } = props.reasons;
  const percent = (share: number): string => `${Math.round(100 * share)} %`;
  const whole = matches.map(
    ({ word, fields }) => `${word}: ${fields.map((f) => fieldNames[f]).join(", ")}`,
  );
  const vectors = `${percent(vectorShare)} of the score by word vectors, likeness ${likeness.toFixed(2)}`;
  return (
    <span class="row reasons" title={[...whole, vectors].join("\n")}>
      <span class="number">{props.found.score.toFixed(2)}</span>
      <span
        class="vector-share"
        role="meter"
        aria-label={vectors}
        aria-valuenow={Math.round(100 * vectorShare)}
      >
        <span style={{ width: percent(vectorShare).replace(" ", "") }} />
      </span>
      {matches.slice(0, wordsShown).map(({ word, fields }) => (
        <span key={word} class="reason">
          {word} <small>{fieldNames[fields[0] ?? "description"]}</small>
        </span>
      ))}
      {matches.length > wordsShown && (
        <span class="faint small">+{matches.length - wordsShown}</span>
      )}
      {matches.length === 0 && <span class="faint">alike in meaning</span>}
    </span>
  );
}

/** All tools, searched as a model searches them. */
export function Tools({ route, openMenu }: ScreenProps) {
  const { data, error } = useData("tools", {});
  const [task, setTask] = useState("");
  const [server, setServer] = useState("");
  const [kind, setKind] = useState("");
  const [group, setGroup] = useState("");
  const finding = useFinding(task);
  const tools = data?.tools ?? [];
  const [selected = ""] = route;

  const shown = useMemo((): readonly Line[] => {
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    const lines: readonly Line[] = finding.found
      ? finding.found.flatMap((found) => {
          const tool = byName.get(found.name);
          return tool ? [{ ...tool, found }] : [];
        })
      : tools;
    return lines.filter(
      (tool) =>
        (server === "" || tool.toolkit === server) &&
        (kind === "" || tool.effect === kind) &&
        (group === "" || tool.groups.includes(group)),
    );
  }, [tools, finding.found, server, kind, group]);
  const servers = useMemo(() => [...new Set(tools.map(({ toolkit }) => toolkit))].sort(), [tools]);
  const groups = useMemo(() => [...new Set(tools.flatMap((tool) => tool.groups))].sort(), [tools]);
  const chosen = tools.find((tool) => tool.name === selected);
  const wide = finding.found ? [name, reasons, effect, description] : [name, effect, description];

  return (
    <Page title="Tools" subtitle={data && plural(tools.length, "tool")} openMenu={openMenu}>
      <div class="toolbar">
        <Search value={task} label="Describe a task, as a model would" change={setTask} />
        <Choice label="Server" value={server} options={servers} change={setServer} />
        <Choice
          label="Class"
          value={kind}
          options={["reads", "changes", "unknown"]}
          change={setKind}
        />
        {groups.length > 0 && (
          <Choice label="Group" value={group} options={groups} change={setGroup} />
        )}
        <span class="count" role="status">
          {finding.found && !finding.fits ? "nothing fits well; the nearest: " : ""}
          {shown.length.toLocaleString("en")} shown
        </span>
      </div>
      {(error ?? finding.error) && <Problem error={(error ?? finding.error) as never} />}
      <div class={chosen ? "split content" : "content"}>
        <div class="content">
          {!data && !error && <Loading />}
          {data && shown.length === 0 && (
            <Empty icon="tools" title="No tools here">
              <p>
                {tools.length === 0
                  ? "Add a server and review it; its tools are listed here."
                  : "No tool fits this search. Try other words or fewer filters."}
              </p>
            </Empty>
          )}
          {shown.length > 0 && (
            <Table
              label="Tools"
              columns={chosen ? wide.slice(0, 2) : wide}
              rows={shown}
              keyOf={(tool) => tool.name}
              selected={selected}
              open={(tool) => go("tools", tool.name)}
            />
          )}
        </div>
        {chosen && <ToolDetail key={chosen.name} line={chosen} />}
      </div>
    </Page>
  );
}

export function Choice(props: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly change: (value: string) => void;
}) {
  return (
    <select
      aria-label={props.label}
      value={props.value}
      onChange={(event) => props.change(event.currentTarget.value)}
    >
      <option value="">{props.label}: all</option>
      {props.options.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  );
}

const typingMs = 150;

/** The search of the hall, once typing pauses. */
function useFinding(task: string) {
  const [found, setFound] = useState<readonly FoundTool[]>();
  const [fits, setFits] = useState(true);
  const { run, error } = useAction();
  useEffect(() => {
    if (task.trim() === "") {
      setFound(undefined);
      return;
    }
    let isOver = false;
    const timer = setTimeout(
      () =>
        run(async () => {
          const finding = await ask("findTools", { task, limit: 20 });
          if (isOver) return;
          setFound(finding.found);
          setFits(finding.fits);
        }),
      typingMs,
    );
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [task]);
  return { found, fits, error };
}
