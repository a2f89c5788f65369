import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { type AddReport, addServers, type ConfigEditOptions, editServer } from "../config-edit.ts";
import { entryFrom, readPasted, splitWords } from "../import/pasted.ts";
import { switchTools } from "../shown-tools.ts";
import { deciderOf, method, type PageParts, shape } from "./area.ts";

export type ConfigChange =
  /** `text`: a command line, a URL, or JSON of any client. */
  | { readonly kind: "add"; readonly name: string; readonly text: string }
  /** `openapi`: a document in the project's folder, or its URL. */
  | {
      readonly kind: "add";
      readonly name: string;
      readonly openapi: string;
      readonly baseUrl: string;
    }
  | { readonly kind: "edit"; readonly server: string; readonly entry: JsonObject }
  | { readonly kind: "enable" | "disable" | "remove"; readonly server: string }
  /** One tool by its full name. */
  | { readonly kind: "enable tool" | "disable tool"; readonly tool: string };

export interface PlannedChange extends Omit<AddReport, "added"> {
  /** The servers that are added. */
  readonly servers: readonly string[];
  readonly notes: readonly string[];
}

/** Changes of the config. A person sees what would be written, and writes exactly that. */
export function configArea(parts: PageParts) {
  const { hall, folder } = parts;
  const change = shape<ConfigChange>();
  return {
    /** Writes nothing. */
    planChange: method("admin", { change }, (given) =>
      applyChange(parts, given.change, { dryRun: true }),
    ),
    /** Throws CONFLICT if the file is not as it was when the change was planned. */
    makeChange: method("admin", { change, seen: "string" }, async ({ change, seen }, caller) => {
      const made = await applyChange(parts, change, { seen });
      const subject = subjectOf(change, made);
      const reason = `${change.kind} in the page`;
      await hall.note({ kind: "changed", subject, caller: deciderOf(caller), reason });
      return made;
    }),
    /** The entry of a server as it is written. */
    entry: method("admin", { server: "string" }, async ({ server }) => {
      let found: JsonObject = {};
      await editServer(folder, server, (entry) => (found = entry), { dryRun: true });
      return { entry: found };
    }),
  };
}

async function applyChange(
  { folder, settings }: PageParts,
  change: ConfigChange,
  options: ConfigEditOptions,
): Promise<PlannedChange> {
  if (change.kind === "add") {
    const { added, ...report } = await addServers(folder, entriesOf(change), options);
    return {
      ...report,
      servers: added.map(({ name }) => name),
      notes: added.flatMap(({ name, notes }) => notes.map((note) => `${name}: ${note}`)),
    };
  }
  const none = { servers: [], notes: [], secrets: [], variables: [] };
  if ("tool" in change) {
    const isOn = change.kind === "enable tool";
    const { file, before, after } = await switchTools(
      await settings(),
      String(change.tool),
      isOn,
      options,
    );
    return { file, before, after, ...none };
  }
  const edited = await editServer(folder, String(change.server), editOf(change), options);
  return { ...edited, ...none };
}

function subjectOf(change: ConfigChange, { servers }: PlannedChange): string {
  if ("server" in change) return change.server;
  return "tool" in change ? change.tool : servers.join(", ");
}

function entriesOf(change: Extract<ConfigChange, { kind: "add" }>) {
  const name = readText(change, "name");
  const text = "text" in change ? readText(change, "text") : undefined;
  if (text !== undefined && (/^[{"]/.test(text) || /^\$?\s*claude\s+mcp\s/.test(text)))
    return readPasted(text, name === "" ? undefined : name);
  if (name === "")
    throw new HallError("INVALID_PARAMS", "the server has no name", {
      hint: "Give it a short name, such as files or github.",
    });
  if (text !== undefined)
    return [{ name, value: entryFrom(splitWords(text), { headers: [], env: [] }) }];
  const [openapi, baseUrl] = [readText(change, "openapi"), readText(change, "baseUrl")];
  const api = {
    openapi,
    ...(baseUrl === "" ? {} : { baseUrl }),
    auth: [],
    include: [],
  };
  return [{ name, value: entryFrom([], { headers: [], env: [], api }) }];
}

function readText(change: object, field: string): string {
  const value = (change as JsonObject)[field];
  if (typeof value !== "string")
    throw new HallError("INVALID_PARAMS", `"${field}" of a new server must be a string`);
  return value.trim();
}

function editOf(
  change: Extract<ConfigChange, { readonly server: string }>,
): (entry: JsonObject) => JsonObject | undefined {
  switch (change.kind) {
    case "edit":
      if (!isObject(change.entry))
        throw new HallError("INVALID_PARAMS", "the entry of a server is an object");
      return () => change.entry;
    case "enable":
      return ({ disabled: _off, ...entry }) => entry;
    case "disable":
      return (entry) => ({ ...entry, disabled: true });
    case "remove":
      return () => undefined;
    default:
      throw new HallError("INVALID_PARAMS", "unknown change of the config");
  }
}
