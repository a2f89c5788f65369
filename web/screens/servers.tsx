import { useMemo, useState } from "preact/hooks";
import type { PageServer } from "../../src/hall/page/servers.ts";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { Search } from "../parts/search.tsx";
import { ServerDot, ServerState } from "../parts/server-state.tsx";
import { Empty, Loading, Page, plural } from "../parts/shown.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { go } from "../router.ts";
import { useData } from "../store.ts";
import type { ScreenProps } from "./screens.ts";
import { AddServer } from "./server-add.tsx";
import { ServerDetail } from "./server-detail.tsx";

const columns: readonly TableColumn<PageServer>[] = [
  {
    title: "Server",
    width: "minmax(140px, 1.2fr)",
    show: (server) => (
      <span class="row">
        <ServerDot server={server} />
        <strong class="ellipsis">{server.name}</strong>
      </span>
    ),
  },
  { title: "State", width: "110px", show: (server) => <ServerState server={server} /> },
  {
    title: "Runs",
    width: "minmax(160px, 2fr)",
    isWide: true,
    show: ({ target }) => <span class="mono faint">{target}</span>,
  },
  { title: "Version", width: "80px", isWide: true, show: ({ version }) => version ?? "–" },
  { title: "Tools", width: "56px", isRight: true, show: ({ tools }) => tools },
  { title: "Calls", width: "64px", isRight: true, isWide: true, show: ({ calls }) => calls },
  {
    title: "Errors",
    width: "64px",
    isRight: true,
    isWide: true,
    show: ({ errors }) => <span class={errors > 0 ? "bad" : ""}>{errors}</span>,
  },
];

export function Servers({ route, openMenu }: ScreenProps) {
  const { data, error } = useData("servers", {});
  const [search, setSearch] = useState("");
  const [name = "", part] = route;
  const servers = data?.servers ?? [];
  const shown = useMemo(() => {
    const wanted = search.toLowerCase();
    return servers.filter((server) =>
      `${server.name} ${server.target}`.toLowerCase().includes(wanted),
    );
  }, [servers, search]);
  const selected = servers.find((server) => server.name === name);
  const add = (): void => go("servers", name, "add");

  return (
    <Page
      title="Servers"
      subtitle={data && plural(servers.length, "server")}
      openMenu={openMenu}
      actions={
        <button type="button" class="primary" onClick={add}>
          <Icon name="plus" />
          Add server
        </button>
      }
    >
      {part === "add" && <AddServer close={() => go("servers", name)} />}
      <div class="toolbar">
        <Search value={search} label="Find a server" change={setSearch} />
      </div>
      {error && <Problem error={error} />}
      <div class={selected ? "split content" : "content"}>
        <div class="content">
          {!data && !error && <Loading />}
          {data && servers.length === 0 && (
            <Empty icon="servers" title="No servers yet">
              <p>
                Add one by its command or URL, or paste what its documentation offers for any
                client.
              </p>
              <button type="button" class="primary" onClick={add}>
                Add server
              </button>
            </Empty>
          )}
          {servers.length > 0 && (
            <Table
              label="Servers"
              columns={selected ? columns.slice(0, 2) : columns}
              rows={shown}
              keyOf={(server) => server.name}
              selected={name}
              open={(server) => go("servers", server.name)}
            />
          )}
        </div>
        {selected && <ServerDetail key={selected.name} server={selected} tab={part} />}
      </div>
    </Page>
  );
}
