import type { ScreenName } from "../state.ts";
import { agentsScreen } from "./agents.tsx";
import { approvalsScreen } from "./approvals.tsx";
import { featureScreen } from "./feature.tsx";
import { featuresScreen } from "./features.tsx";
import { lispScreen } from "./lisp.tsx";
import { runScreen } from "./run.tsx";
import type { Screen } from "./screen.ts";
import { serversScreen } from "./servers.tsx";
import { statsScreen } from "./stats.tsx";
import { toolsScreen } from "./tools.tsx";

export const screens: Readonly<Record<ScreenName, Screen>> = {
  features: featuresScreen,
  feature: featureScreen,
  run: runScreen,
  tools: toolsScreen,
  agents: agentsScreen,
  lisp: lispScreen,
  servers: serversScreen,
  approvals: approvalsScreen,
  stats: statsScreen,
};
