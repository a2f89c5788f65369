import { HallError } from "../base/errors.ts";
import type { Registry } from "../registry/registry.ts";
import { readOwnUri } from "../registry/resource-owners.ts";
import type { Caller, FlowMarks, Toolkit } from "../tool.ts";
import { markTool } from "../trust/marks.ts";
import { type Conversations, taintReason } from "../trust/trust.ts";
import type { TrustParts } from "./trust.ts";

export type AdmitRead = (
  resource: { readonly toolkit: Toolkit; readonly uri: string },
  caller: Caller,
) => void;

/**
 * The flow guard for resources of servers: what is read taints the conversation, and a URI that the
 * caller made up may carry away what it has read. A read cannot ask a person, so such a read is refused.
 */
export function guardReads(
  { trust }: Pick<TrustParts, "trust">,
  registry: Pick<Registry, "resources">,
  conversations: Conversations,
): AdmitRead {
  return ({ toolkit, uri }, caller) => {
    if (toolkit.source !== "upstream") return;
    const tool = { name: "read_resource", inputSchema: {} };
    const { isGuarded } = trust.judge({ toolkit, tool, fullName: `${toolkit.id}.${tool.name}` });
    if (!isGuarded) return;
    const { bringsIn, goesOut, readsPrivate } = marksOf(uri);
    const taint = conversations.taintOf(caller);
    const isTainted = taint.outside !== undefined || taint.private !== undefined;
    const mayCarry =
      isTainted && goesOut && !registry.resources((owner) => owner === toolkit).some(isListed(uri));
    const reason = taintReason(
      { ...markTool(tool), effect: "reads" },
      { sendsOut: mayCarry },
      taint,
    );
    if (reason !== undefined)
      throw new HallError("DENIED", `${toolkit.id} may not read this address now: ${reason}`, {
        hint: "Use a tool of the server, which can ask the user, or a new conversation.",
      });
    const name = `a resource of ${toolkit.id}`;
    conversations.add(caller, {
      outside: bringsIn ? name : undefined,
      private: readsPrivate ? name : undefined,
    });
  };
}

function isListed(uri: string): (resource: { readonly uri: string }) => boolean {
  return (resource) => resource.uri === uri || readOwnUri(resource.uri)?.uri === uri;
}

/** Judges a URI as if its scheme and words were the name of a tool. */
function marksOf(uri: string): Pick<FlowMarks, "bringsIn" | "goesOut" | "readsPrivate"> {
  const text = decode(uri);
  const { bringsIn, goesOut, readsPrivate } = markTool({
    name: `read ${text.slice(0, charactersMax)}`,
    inputSchema: {},
  });
  const isAddress = /(^|[^a-z])(https?|wss?|s?ftps?):/i.test(text);
  return { bringsIn: bringsIn || isAddress, goesOut: goesOut || isAddress, readsPrivate };
}

const charactersMax = 2_000;

function decode(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    // Not encoded: the text is the URI itself.
    return uri;
  }
}
