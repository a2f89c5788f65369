import { HallError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { Tool, Toolkit } from "../tool.ts";

/** A resource or a template: its toolkit, and the URI by which that one knows it. */
export interface Owned {
  readonly toolkit: Toolkit;
  readonly uri: string;
}

const start = "guildhall://servers/";

/** The URI of a resource that also says whose it is: accepted always, listed where two have the same. */
function ownUri({ toolkit, uri }: Owned): string {
  return `${start}${toolkit.id}/${uri}`;
}

/** The toolkit and its own URI, if the URI says whose it is. */
export function readOwnUri(uri: string): { readonly id: string; readonly uri: string } | undefined {
  const slash = uri.startsWith(start) ? uri.indexOf("/", start.length) : -1;
  if (slash === -1) return undefined;
  return { id: uri.slice(start.length, slash), uri: uri.slice(slash + 1) };
}

/** The only owner, or a built-in one: its resources are never another's. Throws NOT_FOUND if there are several. */
export function pickOwner(owners: readonly Owned[]): Owned | undefined {
  const [first] = owners;
  const found = owners.length > 1 ? owners.find(isBuiltIn) : first;
  if (found || !first) return found;
  const choices = owners.map(ownUri).sort();
  throw new HallError(
    "NOT_FOUND",
    `ambiguous resource ${first.uri.slice(0, 200)} (${choices.length} servers have it)`,
    { hint: "Use the URI that names its server.", details: { choices } },
  );
}

/** The URIs to list: where several toolkits have one, each says whose it is. */
export function listedUris(owned: readonly Owned[]): readonly string[] {
  const owners = new Map<string, Set<Toolkit>>();
  for (const { uri, toolkit } of owned)
    owners.set(uri, (owners.get(uri) ?? new Set()).add(toolkit));
  return owned.map((item) =>
    owners.get(item.uri)?.size === 1 || isBuiltIn(item) ? item.uri : ownUri(item),
  );
}

function isBuiltIn({ toolkit }: Owned): boolean {
  return (toolkit.source ?? "built-in") === "built-in";
}

/** The page that shows the results of a tool, in clients that support MCP Apps. */
export function pageOf({ _meta }: Tool): unknown {
  const { ui, "ui/resourceUri": flat } = _meta ?? {};
  return isObject(ui) ? ui.resourceUri : flat;
}

export function schemeOf(uri: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:/i.exec(uri)?.[0];
}
