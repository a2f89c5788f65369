import { useMemo, useState } from "preact/hooks";
import type { AgentLine, ToolPoint } from "../../src/hall/page/agents.ts";
import { ask } from "../api.ts";
import { useAction } from "../parts/action.ts";
import { Problem } from "../parts/problem.tsx";
import { Empty, Loading, Page, plural } from "../parts/shown.tsx";
import { go, hrefOf } from "../router.ts";
import { refresh, toast, useData } from "../store.ts";
import { AgentDetail } from "./agent-detail.tsx";
import type { ScreenProps } from "./screens.ts";

/** The groups as a map: each tool is a point near the tools it resembles. */
export function Agents({ route, openMenu }: ScreenProps) {
  const { data, error } = useData("agents", {});
  const [selected = ""] = route;
  const move = useAction();
  const agents = data?.agents ?? [];
  const chosen = agents.find(({ name }) => name === selected);
  const moveTool = (tool: string, to: string): void =>
    move.run(async () => {
      const moved = await ask("moveTool", { tool, to });
      toast(`moved ${moved.tool} to ${moved.to}`);
      refresh("agents", "tools");
    });
  const problem = error ?? move.error;
  return (
    <Page title="Agents" subtitle={data && plural(agents.length, "group")} openMenu={openMenu}>
      {problem && <Problem error={problem} />}
      <div class={chosen ? "split content" : "content"}>
        <div class="content padded stack loose">
          {!data && !error && <Loading />}
          {data && agents.length === 0 && (
            <Empty icon="agents" title="No groups yet">
              <p>
                <code>guildhall build</code> sorts the tools into groups. Each becomes an agent that
                carries out tasks with its tools.
              </p>
            </Empty>
          )}
          {agents.length > 0 && (
            <>
              <ToolMap points={data?.tools ?? []} agents={agents} selected={selected} />
              <Groups agents={agents} selected={selected} move={moveTool} />
            </>
          )}
        </div>
        {chosen && (
          <AgentDetail
            key={chosen.name}
            agent={chosen}
            others={agents.map(({ name }) => name).filter((name) => name !== chosen.name)}
            move={moveTool}
          />
        )}
      </div>
    </Page>
  );
}

const tones = 8;
/** More names than this would cover each other. */
const namedMax = 24;

function ToolMap(props: {
  readonly points: readonly ToolPoint[];
  readonly agents: readonly AgentLine[];
  readonly selected: string;
}) {
  const { points, agents, selected } = props;
  const tone = useMemo(() => new Map(agents.map(({ name }, at) => [name, at % tones])), [agents]);
  // Drawn about as wide as it is shown, else its names would shrink until they are unreadable.
  const beside = selected === "" ? 1_000 : 560;
  const width = innerWidth < 720 ? 400 : beside;
  const left = ({ x }: ToolPoint): number => 20 + x * (width - 40);
  return (
    <section class="card tool-map">
      <header>
        <h2>Map of the tools</h2>
        <span class="faint small end ellipsis">near each other means alike</span>
      </header>
      <svg
        viewBox={`0 0 ${width} 420`}
        role="group"
        aria-label={`${points.length} tools by likeness`}
      >
        {points.map((point) => (
          <a
            key={`${point.group} ${point.name}`}
            href={hrefOf("agents", point.group)}
            tabIndex={-1}
            aria-label={`${point.name} in ${point.group}`}
          >
            <circle
              class={`tone-${tone.get(point.group) ?? 0}`}
              data-dim={selected !== "" && selected !== point.group}
              cx={left(point)}
              cy={20 + point.y * 380}
              r={6}
            >
              <title>
                {point.name} ({point.group})
              </title>
            </circle>
            {points.length <= namedMax && (
              <text
                x={left(point) + (point.x > 0.5 ? -12 : 12)}
                y={24 + point.y * 380}
                text-anchor={point.x > 0.5 ? "end" : "start"}
              >
                {point.name.split(".").at(-1)}
              </text>
            )}
          </a>
        ))}
      </svg>
    </section>
  );
}

/** Cards by group. A tool can be dragged to another card; the detail has a list for the keyboard. */
function Groups(props: {
  readonly agents: readonly AgentLine[];
  readonly selected: string;
  readonly move: (tool: string, to: string) => void;
}) {
  const [over, setOver] = useState("");
  return (
    <div class="group-grid">
      {props.agents.map(({ name, description, tools }, at) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: dragging is a shortcut; the detail has a list for the keyboard
        <section
          key={name}
          class="card group"
          data-selected={name === props.selected}
          data-over={name === over}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(name);
          }}
          onDragLeave={() => setOver("")}
          onDrop={(event) => {
            event.preventDefault();
            setOver("");
            const tool = event.dataTransfer?.getData("text/plain") ?? "";
            if (tool !== "" && !tools.includes(tool)) props.move(tool, name);
          }}
        >
          <header>
            <span class={`dot tone-${at % tones}`} />
            <h2 class="ellipsis">
              <button type="button" class="link" onClick={() => go("agents", name)}>
                {name}
              </button>
            </h2>
            <span class="faint small end">{plural(tools.length, "tool")}</span>
          </header>
          <div class="body stack">
            <p class="soft small clamp-2">{description}</p>
            <div class="row wrap chips">
              {tools.slice(0, chipsMax).map((tool) => (
                // biome-ignore lint/a11y/noStaticElementInteractions: as above
                <span
                  key={tool}
                  class="chip mono"
                  draggable
                  title={`Drag ${tool} to another group`}
                  onDragStart={(event) => event.dataTransfer?.setData("text/plain", tool)}
                >
                  {tool}
                </span>
              ))}
              {tools.length > chipsMax && (
                <span class="faint small">and {tools.length - chipsMax} more</span>
              )}
            </div>
          </div>
        </section>
      ))}
    </div>
  );
}

const chipsMax = 12;
