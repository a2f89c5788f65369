import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask } from "./api.ts";
import { Keys } from "./parts/keys.tsx";
import { Nav } from "./parts/nav.tsx";
import { Loading, Toasts } from "./parts/shown.tsx";
import { useRoute } from "./router.ts";
import { findScreen, type Screen, type ScreenProps } from "./screens/screens.ts";
import { SignIn } from "./screens/sign-in.tsx";
import { failureOf, follow, useConnection, useEvents } from "./store.ts";

export function App() {
  const connection = useConnection();
  const route = useRoute();
  const isCode = route[0] === "sign-in";

  useEffect(() => {
    if (isCode) return;
    // A browser that is not signed in gets one refused request, no stream that retries.
    ask("session", {}).then(follow, (error: unknown) => {
      failureOf(error);
      if (connection === "opening") follow();
    });
  }, []);

  if (isCode || connection === "signed-out") return <SignIn code={isCode ? route[1] : undefined} />;
  return <Frame route={route} />;
}

function Frame({ route }: { readonly route: readonly string[] }) {
  const connection = useConnection();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const screen = findScreen(route[0]);
  useNotifications();
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
        <Shown
          key={screen.path}
          screen={screen}
          route={route.slice(1)}
          openMenu={() => setMenuOpen(true)}
        />
      </main>
      <Toasts />
      <Keys />
    </div>
  );
}

/** Screens are loaded when they are first shown. */
function Shown({ screen, ...props }: { readonly screen: Screen } & ScreenProps) {
  const [component, setComponent] = useState<{ readonly View: ComponentType<ScreenProps> }>();
  useEffect(() => {
    void screen.load().then((View) => setComponent({ View }));
  }, [screen]);
  if (!component) return <Loading />;
  return <component.View {...props} />;
}

/** A browser that may notify says when a call waits and nobody looks at the page. */
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
