import type { ScreenName } from "../state.ts";
import type { Screen } from "../view.ts";
import { agentsScreen } from "./agents.ts";
import { approvalsScreen } from "./approvals.ts";
import { featureScreen } from "./feature.ts";
import { featuresScreen } from "./features.ts";
import { lispScreen } from "./lisp.ts";
import { runScreen } from "./run.ts";
import { serversScreen } from "./servers.ts";
import { statsScreen } from "./stats.ts";
import { toolsScreen } from "./tools.ts";

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
