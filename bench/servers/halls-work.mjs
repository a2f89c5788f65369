export { ask, startTeam } from "../../test/halls/team.ts";
export { startCluster } from "../../test/store/cluster.ts";
