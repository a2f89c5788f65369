import type { JsonObject } from "../base/json.ts";
import { kindOfHost } from "../net/host.ts";
import type { Path, Problem } from "./error.ts";
import { fieldAt } from "./layer.ts";

/** The sections that say where something is asked, each with the field that has the address. */
const sections = {
  planner: "baseUrl",
  images: "url",
  search: "url",
  telemetry: "otlpUrl",
} as const;

/**
 * A repository somebody cloned runs no program, and sends no key and nothing that callers say to an address of its choice: a project's file
 * may name a model or a provider, and an address on this machine.
 */
export function findEndpointProblems(
  tree: JsonObject,
  isOfProject: (path: Path) => boolean,
): Problem[] {
  const ofSections = Object.entries(sections).flatMap(([section, addressField]) => {
    const allowed = `only the user's own config file, or a GUILDHALL__${section.toUpperCase()}__ variable, may say that`;
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
      ...refuse("apiKeyEnv", "names any variable as the key"),
      ...refuse(addressField, "is not on this machine", isElsewhere),
    ];
  });
  const store: Path = ["store", "url"];
  // Not even on this machine: what all halls of a user share is not for one project to name.
  const isNamed = fieldAt(tree, store) !== undefined && isOfProject(store);
  const text =
    "sends every call's row elsewhere; only the user's own config file, or GUILDHALL__STORE__URL, may say that";
  return isNamed ? [...ofSections, { path: store, text }] : ofSections;
}

/** What is no address at all is the schema's to refuse, or its user's. */
function isElsewhere(url: unknown): boolean {
  return (
    typeof url === "string" &&
    !(URL.canParse(url) && kindOfHost(new URL(url).hostname) === "loopback")
  );
}
