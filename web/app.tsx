import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask } from "./api.ts";
import type { First } from "./first.ts";
import { Keys } from "./parts/keys.tsx";
import { Nav } from "./parts/nav.tsx";
import { Toasts } from "./parts/shown.tsx";
import { useRoute } from "./router.ts";
import { Own } from "./screens/own.tsx";
import { findScreen } from "./screens/screens.ts";
import { SignIn } from "./screens/sign-in.tsx";
import { begin, failureOf, follow, useConnection, useData, useEvents } from "./store.ts";

/** Shows the page, with the answers that are on their way. */
export function start(first: First | undefined): void {
  const root = document.getElementById("app");
  if (!root) return;
  if (first) void begin(first);
  render(<App />, root);
}

function App() {
  const connection = useConnection();
  const route = useRoute();
  const isCode = route[0] === "sign-in";

  if (isCode || connection === "signed-out") return <SignIn code={isCode ? route[1] : undefined} />;
  return connection === "starting" ? null : <SignedIn route={route} />;
}

function SignedIn({ route }: { readonly route: readonly string[] }) {
  // The first answers have it.
  const { data: session } = useData("session", {});
  const seesMore = session?.scopes.some((scope) => scope === "read" || scope === "admin") ?? true;
  return route[0] === "own" || !seesMore ? <Own seesMore={seesMore} /> : <Frame route={route} />;
}

function Frame({ route }: { readonly route: readonly string[] }) {
  const connection = useConnection();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const screen = findScreen(route[0]);
  useNotifications();
  // After the requests of the screen, so that the stream takes no connection from them.
  useEffect(follow, []);
  useEffect(() => {
    setMenuOpen(false);
    document.title = `${screen.title} · Guildhall`;
  }, [route.join("/")]);

  return (
    <div class="frame" data-menu={isMenuOpen ? "open" : "closed"}>
      <a class="skip" href="#main">
        Skip to the screen
      </a>
      <Nav current={screen.path} close={() => setMenuOpen(false)} />
      <main id="main" class="screen" tabIndex={-1}>
        {connection === "lost" && (
          <div class="offline" role="status">
            The hall does not answer. Reconnecting …
          </div>
        )}
        <screen.View key={screen.path} route={route.slice(1)} openMenu={() => setMenuOpen(true)} />
      </main>
      <Toasts />
      <Keys />
    </div>
  );
}

/** Shows a browser notification when a call waits for approval while the page is in the background. */
function useNotifications(): void {
  useEvents((event) => {
    const isAboutCalls = event.type === "changed" && event.what === "approvals";
    if (!isAboutCalls || !document.hidden || !("Notification" in window)) return;
    if (Notification.permission !== "granted") return;
    void ask("approvals", {}).then(({ pending }) => {
      const newest = pending.at(-1);
      if (newest && Date.now() - newest.askedAt < recentMs)
        new Notification("A call waits for approval", { body: newest.tool, tag: newest.token });
    }, failureOf);
  }, []);
}

const recentMs = 5_000;
