import type { ComponentType } from "preact";
import type { IconName } from "../parts/icon.tsx";
import { Agents } from "./agents.tsx";
import { Approvals } from "./approvals.tsx";
import { Audit } from "./audit.tsx";
import { Calls } from "./calls.tsx";
import { Programs } from "./code.tsx";
import { Overview } from "./overview.tsx";
import { Review } from "./review.tsx";
import { Servers } from "./servers.tsx";
import { Settings } from "./settings.tsx";
import { Tools } from "./tools.tsx";
import { Workflow } from "./workflow.tsx";

/** The properties of every screen. */
export interface ScreenProps {
  /** The address after the screen's own name. */
  readonly route: readonly string[];
  openMenu(): void;
}

export interface PageScreen {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** After `g`, this key opens it. */
  readonly key: string;
  readonly section: "" | "Tools" | "Records";
  readonly View: ComponentType<ScreenProps>;
}

const overview: PageScreen = {
  path: "overview",
  title: "Overview",
  icon: "overview",
  key: "o",
  section: "",
  View: Overview,
};

/** The screens in the order of the navigation. A new one is one file and one entry here. */
export const screens: readonly PageScreen[] = [
  overview,
  {
    path: "servers",
    title: "Servers",
    icon: "servers",
    key: "s",
    section: "",
    View: Servers,
  },
  {
    path: "review",
    title: "Review",
    icon: "review",
    key: "r",
    section: "",
    View: Review,
  },
  {
    path: "approvals",
    title: "Approvals",
    icon: "approvals",
    key: "a",
    section: "",
    View: Approvals,
  },
  {
    path: "tools",
    title: "Tools",
    icon: "tools",
    key: "t",
    section: "Tools",
    View: Tools,
  },
  {
    path: "agents",
    title: "Agents",
    icon: "agents",
    key: "g",
    section: "Tools",
    View: Agents,
  },
  {
    path: "code",
    title: "Code",
    icon: "code",
    key: "l",
    section: "Tools",
    View: Programs,
  },
  {
    path: "workflow",
    title: "Workflow",
    icon: "workflow",
    key: "w",
    section: "Tools",
    View: Workflow,
  },
  {
    path: "calls",
    title: "Calls",
    icon: "calls",
    key: "c",
    section: "Records",
    View: Calls,
  },
  {
    path: "audit",
    title: "Audit and statistics",
    icon: "audit",
    key: "u",
    section: "Records",
    View: Audit,
  },
  {
    path: "settings",
    title: "Settings",
    icon: "settings",
    key: "e",
    section: "Records",
    View: Settings,
  },
];

export function findScreen(path: string | undefined): PageScreen {
  return screens.find((screen) => screen.path === path) ?? overview;
}
