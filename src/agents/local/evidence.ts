// What speaks for and against a value in a place, each with a name. How much each counts is in weights.ts.

import type { Mention } from "./mention.ts";
import { distanceTo, far } from "./nearness.ts";
import type { Option, OptionKind } from "./options.ts";
import type { Parameter, Sort } from "./parameters.ts";
import { type Setting, signsOf, signsOfOverlap } from "./signs.ts";

export interface Considered {
  readonly parameter: Parameter;
  readonly options: readonly { readonly option: Option; readonly signs: readonly string[] }[];
}

/** The signs of every option of every parameter. Options are compared with each other: who stands nearest, who comes first. */
export function weighSigns(
  choices: readonly { readonly parameter: Parameter; readonly options: readonly Option[] }[],
  setting: Setting,
): readonly Considered[] {
  const nearness = choices.map(({ parameter, options }) =>
    options.map((option) => distanceTo(parameter, option, setting.reading)),
  );
  /** For each mention the parameter whose name stands nearest. */
  const nearest = new Map<Mention, number>();
  for (const [row, { options }] of choices.entries()) {
    for (const [at, { mention }] of options.entries()) {
      if (!mention) continue;
      const distance = nearness[row]?.[at]?.distance ?? far;
      if (distance < (nearest.get(mention) ?? far)) nearest.set(mention, distance);
    }
  }
  const overlaps = new Map(
    setting.reading.mentions.map((mention) => [mention, signsOfOverlap(mention, setting.reading)]),
  );
  return choices.map(({ parameter, options }, row) => {
    const own = nearness[row] ?? [];
    const least = Math.min(far, ...own.map(({ distance }) => distance));
    const sameSort = setting.parameters.filter(
      (other) =>
        other.type === parameter.type &&
        other.sort === parameter.sort &&
        other.isRequired === parameter.isRequired,
    );
    const place = sameSort.indexOf(parameter);
    const isAlone = sameSort.length === 1 && parameter.isRequired;
    const lined = lineUp(options);
    return {
      parameter,
      options: options.map((option, at) => {
        const near = own[at] ?? { distance: far, side: "none" as const, share: 0 };
        const signs = [
          ...signsOf(parameter, option, { near, setting }),
          ...(option.mention ? (overlaps.get(option.mention) ?? []) : []),
        ];
        if (near.distance < far && near.distance === least) signs.push("nearest of all");
        else if (least < far) signs.push("another stands nearer");
        if (option.mention && near.distance < far && near.distance === nearest.get(option.mention))
          signs.push("its own name is nearest");
        else if (option.mention && (nearest.get(option.mention) ?? far) < near.distance)
          signs.push("another name is nearer");
        const order = lined.get(option);
        if (order !== undefined) {
          if (order.count === 1) signs.push(`only ${option.kind}`);
          if (order.count === 1 && isAlone && parameter.type === "string")
            signs.push(`only ${option.kind} for the only ${parameter.sort}`);
          if (order.count === 1 && isAlone && madeFor[parameter.sort] === option.kind)
            signs.push("made for each other");
          if (sameSort.length > 1)
            signs.push(
              order.at === place
                ? order.count === sameSort.length
                  ? "in order, as many"
                  : "in order"
                : order.count === sameSort.length
                  ? "out of order, as many"
                  : "out of order",
            );
          else if (order.count > 1)
            signs.push(order.at === 0 ? "first" : order.at === order.count - 1 ? "last" : "middle");
        }
        return { option, signs };
      }),
    };
  });
}

/** Sorts that only one kind of words can be. */
const madeFor: Readonly<Partial<Record<Sort, OptionKind>>> = {
  link: "link",
  path: "path",
  email: "email",
};

/** Which of its kind an option is, parts of others left out. */
function lineUp(options: readonly Option[]): Map<Option, { at: number; count: number }> {
  const lines = new Map<string, Option[]>();
  for (const option of options) {
    if (
      option.mention?.isPart ||
      option.turn === "share" ||
      option.turn === "unit" ||
      option.turn === "digits"
    )
      continue;
    if (option.mention?.quantity?.isVague || option.mention?.quantity?.isOrdinal) continue;
    const line = lines.get(option.kind);
    if (!line) lines.set(option.kind, [option]);
    else if (option.start >= (line.at(-1)?.end ?? 0)) line.push(option);
  }
  const places = new Map<Option, { at: number; count: number }>();
  for (const option of options) {
    const line = lines.get(option.kind) ?? [];
    const at = line.findIndex(({ start, end }) => start <= option.start && option.start < end);
    if (at >= 0) places.set(option, { at, count: line.length });
  }
  return places;
}
