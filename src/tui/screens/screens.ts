import type { ScreenName } from "../state.ts";
import type { Screen } from "../view.ts";
import { agentsScreen } from "./agents.ts";
import { approvalsScreen } from "./approvals.ts";
import { featureScreen } from "./feature.ts";
import { featuresScreen } from "./features.ts";
import { runScreen } from "./run.ts";
import { serversScreen } from "./servers.ts";
import { toolsScreen } from "./tools.ts";

export const screens: Readonly<Record<ScreenName, Screen>> = {
  features: featuresScreen,
  feature: featureScreen,
  run: runScreen,
  tools: toolsScreen,
  agents: agentsScreen,
  servers: serversScreen,
  approvals: approvalsScreen,
};
