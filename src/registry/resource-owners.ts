import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { findNear } from "../base/text.ts";
import type { Resource, Tool, Toolkit } from "../tool.ts";
import type { HeldBack, ToolkitEntry } from "./toolkit-entry.ts";

/** A resource or a template: its toolkit, and the URI by which that one knows it. */
export interface Owned {
  readonly toolkit: Toolkit;
  readonly uri: string;
}

type OwnedItem<K extends "resources" | "templates"> = Owned & {
  readonly item: ToolkitEntry[K][number];
};

/** The resources and templates of all toolkits, and which toolkit serves a URI. */
export class Resources {
  readonly #entries: ReadonlyMap<string, ToolkitEntry>;
  readonly #heldBack: HeldBack;

  constructor(entries: ReadonlyMap<string, ToolkitEntry>, heldBack: HeldBack) {
    this.#entries = entries;
    this.#heldBack = heldBack;
  }

  list(isFor: (toolkit: Toolkit, uri: string) => boolean = () => true): readonly Resource[] {
    return withListedUris(this.#owned("resources"))
      .filter(({ toolkit, uri }) => isFor(toolkit, uri))
      .map(({ item, listed }) => ({ ...item, uri: listed }))
      .sort((a, b) => compare(a.uri, b.uri));
  }

  templates(isFor: (toolkit: Toolkit, uri: string) => boolean = () => true): readonly JsonObject[] {
    return withListedUris(this.#owned("templates"))
      .filter(({ toolkit, uri }) => isFor(toolkit, uri))
      .map(({ item, listed }) => ({ ...item, uriTemplate: listed }))
      .sort((a, b) => compare(a.uriTemplate, b.uriTemplate));
  }

  getOwner(uri: string): Owned {
    this.#heldBack.refresh();
    const owner = this.#findNamedOwner(uri) ?? pickOwner(this.#ownersOf(uri));
    if (owner) return owner;
    for (const { toolkit, resources } of this.#entries.values())
      this.#heldBack.refuse(
        toolkit,
        "resources",
        resources.find((item) => item.uri === uri),
      );
    // Results may link resources that are not listed, and a client may know one from an earlier hall.
    const likely = this.#findBySchemeOf(uri);
    if (likely) return likely;
    const uris = this.#owned("resources").map((resource) => resource.uri);
    throw new HallError("NOT_FOUND", `Resource not found: ${uri.slice(0, 200)}`, {
      details: { uri: uri.slice(0, 2_000), near: findNear(uri, uris) },
    });
  }

  findTemplateOwner(uriTemplate: string): Owned | undefined {
    this.#heldBack.refresh();
    const { id, uri } = readOwnUri(uriTemplate) ?? { id: undefined, uri: uriTemplate };
    const owners = this.#owned("templates").filter(
      (owned) => owned.uri === uri && (id === undefined || owned.toolkit.id === id),
    );
    return pickOwner(owners);
  }

  #owned<K extends "resources" | "templates">(kind: K): OwnedItem<K>[] {
    return [...this.#entries.values()].flatMap((entry) =>
      this.#heldBack.read(entry, kind).map((item) => {
        const { uri, uriTemplate }: JsonObject = { ...item };
        return { toolkit: entry.toolkit, uri: String(uri ?? uriTemplate), item };
      }),
    );
  }

  /** The toolkit that a URI names, if that one serves the rest. */
  #findNamedOwner(uri: string): Owned | undefined {
    const named = readOwnUri(uri);
    return named && this.#ownersOf(named.uri).find(({ toolkit }) => toolkit.id === named.id);
  }

  /** A listed resource wins over a template: one server's `{anything}` must not hide another's. */
  #ownersOf(uri: string): readonly Owned[] {
    const entries = [...this.#entries.values()];
    const listed = entries.filter((entry) =>
      this.#heldBack.read(entry, "resources").some((item) => item.uri === uri),
    );
    const covering = entries.filter(
      (entry) =>
        (entry.toolkit.resources?.covers?.(uri, this.#heldBack.read(entry, "templates")) ||
          this.#hasPage(entry, uri)) &&
        !entry.resources.some((item) => item.uri === uri),
    );
    return (listed.length > 0 ? listed : covering).map(({ toolkit }) => ({ toolkit, uri }));
  }

  /** True for the page of an MCP App, which its tool names. */
  #hasPage({ toolkit, tools }: ToolkitEntry, uri: string): boolean {
    return tools.some(
      ({ tool }) => pageOf(tool) === uri && !this.#heldBack.holds(toolkit, "tools", { ...tool }),
    );
  }

  /** The only toolkit that lists resources with the scheme of a URI. */
  #findBySchemeOf(uri: string): Owned | undefined {
    const scheme = schemeOf(uri);
    const owned = [...this.#owned("resources"), ...this.#owned("templates")].filter(
      (item) => scheme !== undefined && schemeOf(item.uri) === scheme,
    );
    const [toolkit, ...others] = new Set(owned.map((item) => item.toolkit));
    return toolkit?.source === "upstream" && others.length === 0 ? { toolkit, uri } : undefined;
  }
}

// By code unit, not by locale, so that the order is the same on every machine.
export function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
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
function pickOwner(owners: readonly Owned[]): Owned | undefined {
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

/** With the URI to list: where several toolkits have one, each says whose it is. */
function withListedUris<Item extends Owned>(owned: readonly Item[]) {
  const owners = new Map<string, Set<Toolkit>>();
  for (const { uri, toolkit } of owned)
    owners.set(uri, (owners.get(uri) ?? new Set()).add(toolkit));
  return owned.map((item) => {
    const isOnly = owners.get(item.uri)?.size === 1 || isBuiltIn(item);
    return { ...item, listed: isOnly ? item.uri : ownUri(item) };
  });
}

function isBuiltIn({ toolkit }: Owned): boolean {
  return (toolkit.source ?? "built-in") === "built-in";
}

/** The page that shows the results of a tool, in clients that support MCP Apps. */
function pageOf({ _meta }: Tool): unknown {
  const { ui, "ui/resourceUri": flat } = _meta ?? {};
  return isObject(ui) ? ui.resourceUri : flat;
}

function schemeOf(uri: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:/i.exec(uri)?.[0];
}
