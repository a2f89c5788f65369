import { basename } from "node:path";
import type { ProcessSpec } from "../program.ts";
import type { Profile } from "./profile.ts";

/** `docker run` and `podman run`: the program outside talks to a daemon, so the container itself is confined. */
export function isContainer({ command, args }: Pick<ProcessSpec, "command" | "args">): boolean {
  return /^(docker|podman)$/.test(basename(command)) && args.includes("run");
}

/**
 * The options of the profile, before those of the entry, which win where a container engine takes the last. Engines
 * cannot filter by host: a server with any host in its profile has the whole network.
 */
export function confineContainer(
  args: readonly string[],
  { hosts, memoryMb }: Pick<Profile, "hosts" | "memoryMb">,
): readonly string[] {
  const at = args.indexOf("run") + 1;
  const has = (...names: readonly string[]): boolean =>
    args.some((word) => names.some((name) => word === name || word.startsWith(`${name}=`)));
  const options = [
    ...(hosts.length > 0 || has("--network", "--net") ? [] : ["--network=none"]),
    ...(has("--read-only") ? [] : ["--read-only"]),
    ...(has("--tmpfs") ? [] : ["--tmpfs=/tmp:rw,size=256m"]),
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    ...(has("--pids-limit") ? [] : ["--pids-limit=512"]),
    ...(has("--memory", "-m") ? [] : [`--memory=${memoryMb}m`]),
  ];
  return args.toSpliced(at, 0, ...options);
}
