import type { JsonObject } from "../base/json.ts";
import { kindOfHost } from "../net/host.ts";
import type { Path, Problem } from "./error.ts";
import { fieldAt } from "./layer.ts";

/** Sections with a remote endpoint, each with the field that holds its URL. */
const sections = {
  planner: "baseUrl",
  images: "url",
  search: "url",
  telemetry: "otlpUrl",
} as const;

/**
 * A cloned repository must not run programs, read keys or send callers' data to a host of its choice:
 * a project's config may name a model, a provider and a URL on this machine.
 */
export function findEndpointProblems(
  tree: JsonObject,
  isOfProject: (path: Path) => boolean,
): Problem[] {
  const ofSections = Object.entries(sections).flatMap(([section, addressField]) => {
    const allowed = `only the user's own config file or a GUILDHALL__${section.toUpperCase()}__ variable may set it`;
    const refuse = (
      field: string,
      text: string,
      isRefused = (value: unknown): boolean => value !== undefined,
    ): Problem[] => {
      const path: Path = [section, field];
      return isRefused(fieldAt(tree, path)) && isOfProject(path)
        ? [{ path, text: `${text}; ${allowed}` }]
        : [];
    };
    return [
      ...refuse("apiKeyCommand", "runs a program"),
      ...refuse("apiKeyEnv", "can read any environment variable"),
      ...refuse(addressField, "is not on this machine", isElsewhere),
    ];
  });
  const store: Path = ["store", "url"];
  // Not even a URL on this machine: the database may be shared by all halls of the user.
  const isNamed = fieldAt(tree, store) !== undefined && isOfProject(store);
  const text =
    "chooses where all call records are stored; only the user's own config file or GUILDHALL__STORE__URL may set it";
  return isNamed ? [...ofSections, { path: store, text }] : ofSections;
}

/** An invalid URL is reported by the schema or by its user. */
function isElsewhere(url: unknown): boolean {
  return (
    typeof url === "string" &&
    !(URL.canParse(url) && kindOfHost(new URL(url).hostname) === "loopback")
  );
}
