import { useState } from "preact/hooks";
import { signOut } from "../api.ts";
import icon from "../icon.svg";
import { hrefOf } from "../router.ts";
import { type PageScreen, screens } from "../screens/screens.ts";
import { connect, useConnection, useData } from "../store.ts";
import { applyTheme, nextTheme, readTheme } from "../theme.ts";
import { Icon } from "./icon.tsx";
import { Badge } from "./shown.tsx";

const sections = ["", "Tools", "Records"] as const;

export function Nav({ current, close }: { readonly current: string; readonly close: () => void }) {
  const { data: session } = useData("session", {});
  const folder = session?.project.split("/").at(-1);
  return (
    <div class="side">
      <header class="brand">
        <img src={icon} alt="" />
        <span>
          <strong>Guildhall</strong>
          <small title={session?.project}>{folder ?? " "}</small>
        </span>
      </header>
      <nav aria-label="Screens">
        {sections.map((section) => {
          const shown = screens.filter((screen) => screen.section === section);
          return (
            <div key={section}>
              {section !== "" && shown.length > 0 && <h2>{section}</h2>}
              {shown.map((screen) => (
                <Entry key={screen.path} screen={screen} current={current} close={close} />
              ))}
            </div>
          );
        })}
        {session?.isPerson && (
          <a href={hrefOf("own")} onClick={close}>
            <Icon name="approvals" />
            Your logins
          </a>
        )}
      </nav>
      <Foot version={session?.version} />
    </div>
  );
}

function Entry(props: {
  readonly screen: PageScreen;
  readonly current: string;
  readonly close: () => void;
}) {
  const { path, title, icon: name } = props.screen;
  return (
    <a
      href={hrefOf(path)}
      aria-current={path === props.current ? "page" : undefined}
      onClick={props.close}
    >
      <Icon name={name} />
      {title}
      {path === "approvals" && <WaitingCalls />}
      {path === "review" && <HeldServers />}
    </a>
  );
}

function WaitingCalls() {
  const count = useData("approvals", {}).data?.pending.length ?? 0;
  return count > 0 ? <Badge tone="warn">{count}</Badge> : null;
}

function HeldServers() {
  const servers = useData("servers", {}).data?.servers ?? [];
  const count = servers.filter(({ state }) => state === "held").length;
  return count > 0 ? <Badge tone="warn">{count}</Badge> : null;
}

const connections = {
  starting: ["warn", "Connecting …"],
  open: ["good", "Live"],
  opening: ["warn", "Connecting …"],
  lost: ["bad", "Reconnecting …"],
  "signed-out": ["bad", "Signed out"],
} as const;

function Foot({ version }: { readonly version: string | undefined }) {
  const [tone, label] = connections[useConnection()];
  const [theme, setTheme] = useState(readTheme);
  const icons = { system: "display", light: "sun", dark: "moon" } as const;
  const change = (): void => {
    const next = nextTheme(theme);
    applyTheme(next);
    setTheme(next);
  };
  const leave = (): void => void signOut().finally(() => connect("signed-out"));
  return (
    <footer>
      <div class="row">
        <span class="row">
          <span class={`dot ${tone}`} />
          {label}
        </span>
        <span>
          <button
            type="button"
            class="plain icon-only"
            aria-label={`Theme: ${theme}`}
            title={`Theme: ${theme}`}
            onClick={change}
          >
            <Icon name={icons[theme]} />
          </button>
          <button
            type="button"
            class="plain icon-only"
            aria-label="Sign out"
            title="Sign out"
            onClick={leave}
          >
            <Icon name="exit" />
          </button>
        </span>
      </div>
      <span>{version === undefined ? " " : `Version ${version} · `}press ? for keys</span>
    </footer>
  );
}
