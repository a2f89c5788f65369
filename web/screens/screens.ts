import type { ComponentType } from "preact";
import type { IconName } from "../parts/icon.tsx";

/** The properties of every screen. */
export interface ScreenProps {
  /** The address after the screen's own name. */
  readonly route: readonly string[];
  openMenu(): void;
}

export interface Screen {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** After `g`, this key opens it. */
  readonly key: string;
  readonly section: "" | "Tools" | "Records";
  load(): Promise<ComponentType<ScreenProps>>;
}

const overview: Screen = {
  path: "overview",
  title: "Overview",
  icon: "overview",
  key: "o",
  section: "",
  load: async () => (await import("./overview.tsx")).Overview,
};

/** The screens in the order of the navigation. A new one is one file and one entry here. */
export const screens: readonly Screen[] = [
  overview,
  {
    path: "servers",
    title: "Servers",
    icon: "servers",
    key: "s",
    section: "",
    load: async () => (await import("./servers.tsx")).Servers,
  },
  {
    path: "review",
    title: "Review",
    icon: "review",
    key: "r",
    section: "",
    load: async () => (await import("./review.tsx")).Review,
  },
  {
    path: "approvals",
    title: "Approvals",
    icon: "approvals",
    key: "a",
    section: "",
    load: async () => (await import("./approvals.tsx")).Approvals,
  },
  {
    path: "tools",
    title: "Tools",
    icon: "tools",
    key: "t",
    section: "Tools",
    load: async () => (await import("./tools.tsx")).Tools,
  },
  {
    path: "agents",
    title: "Agents",
    icon: "agents",
    key: "g",
    section: "Tools",
    load: async () => (await import("./agents.tsx")).Agents,
  },
  {
    path: "code",
    title: "Code",
    icon: "code",
    key: "l",
    section: "Tools",
    load: async () => (await import("./code.tsx")).Programs,
  },
  {
    path: "workflow",
    title: "Workflow",
    icon: "workflow",
    key: "w",
    section: "Tools",
    load: async () => (await import("./workflow.tsx")).Workflow,
  },
  {
    path: "calls",
    title: "Calls",
    icon: "calls",
    key: "c",
    section: "Records",
    load: async () => (await import("./calls.tsx")).Calls,
  },
  {
    path: "audit",
    title: "Audit and statistics",
    icon: "audit",
    key: "u",
    section: "Records",
    load: async () => (await import("./audit.tsx")).Audit,
  },
  {
    path: "settings",
    title: "Settings",
    icon: "settings",
    key: "e",
    section: "Records",
    load: async () => (await import("./settings.tsx")).Settings,
  },
];

export function findScreen(path: string | undefined): Screen {
  return screens.find((screen) => screen.path === path) ?? overview;
}
