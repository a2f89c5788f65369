import type { JsonObject } from "../base/json.ts";
import { markTool } from "../trust/marks.ts";
import { definitionOf } from "../trust/pin.ts";
import { type Change, type FieldChange, willAsk } from "../trust/review.ts";
import type { Suspicion } from "../trust/suspicion.ts";
import type { OtherReview, ServerReview } from "./review.ts";

/** A tool, prompt, resource or template in a review, as JSON. */
export interface ReviewedItem {
  readonly name: string;
  readonly state: Change["kind"];
  readonly suspicions: readonly Suspicion[];
  readonly fields?: readonly FieldChange[] | undefined;
  readonly definition: JsonObject;
  /** Of a tool: why it is marked as it is, by mark. */
  readonly why?: Readonly<Record<string, string>> | undefined;
}

/** A review as JSON. */
export interface ReviewSummary
  extends Pick<ServerReview, "name" | "reached" | "eased" | "gone" | "confined"> {
  readonly package: object | undefined;
  readonly approved: boolean;
  readonly changed: boolean;
  readonly tools: readonly (ReviewedItem & {
    readonly destructive: boolean;
    readonly asks: boolean;
  })[];
  readonly others: readonly (ReviewedItem & { readonly kind: OtherReview["kind"] })[];
}

export function summariseReview({
  name,
  reached,
  eased,
  confined,
  isOpen,
  isApproved,
  package: installed,
  tools,
  others,
  gone,
}: ServerReview): ReviewSummary {
  return {
    name,
    reached,
    package: installed && {
      name: installed.name,
      version: installed.version,
      integrity: installed.integrity,
      exact: installed.isExact,
    },
    eased,
    confined,
    approved: isApproved,
    changed: isOpen,
    tools: tools.map((entry) => {
      const { tool, change, isDestructive, suspicions } = entry;
      const { why, effect: _reviewed, ...flow } = markTool(tool);
      return {
        name: tool.name,
        state: change.kind,
        destructive: isDestructive,
        asks: willAsk(entry),
        ...flow,
        why,
        fields: change.kind === "changed" ? change.fields : undefined,
        suspicions,
        definition: definitionOf(tool),
      };
    }),
    others: others.map(({ kind, name, definition, change, suspicions }) => ({
      kind,
      name,
      state: change.kind,
      suspicions,
      fields: change.kind === "changed" ? change.fields : undefined,
      definition,
    })),
    gone,
  };
}
