/** From a prompt to shapes: what its words name is put where such things are, and chance that follows from the prompt does the rest. */
import { drawBackdrop } from "./backdrop.ts";
import { choosePalette, darken, type Palette } from "./colours.ts";
import { drawLandscape } from "./landscape.ts";
import { createRandom, hashText } from "./noise.ts";
import { readPrompt, type Thing } from "./prompt.ts";
import { ellipse, paint, type Shape } from "./shapes.ts";
import type { Stage } from "./stage.ts";
import { drawWeather } from "./weather.ts";

export interface Scene {
  readonly seed: number;
  readonly palette: Palette;
  /** Painted in this order. */
  readonly shapes: readonly Shape[];
  /** 0 to 1: how much of the sky is cloud. */
  readonly clouds: number;
  /** What of the prompt was recognised. */
  readonly elements: readonly string[];
}

export function composeScene(prompt: string): Scene {
  const seed = hashText(prompt.normalize("NFC").trim().toLowerCase());
  const random = createRandom(seed);
  const { words, scenery, things } = readPrompt(prompt);
  const isShapesOnly =
    scenery.length === 0 && things.every(({ subject }) => subject.where === "middle");
  const palette = choosePalette(words, !isShapesOnly, random);
  const hasShore =
    scenery.includes("sea") && things.some(({ subject }) => subject.where === "ground");
  const stage: Stage = { palette, random, seed, scenery, horizon: 0.6 + random() * 0.08, hasShore };
  const layers = isShapesOnly ? drawBackdrop(stage, things.length === 0) : drawLandscape(stage);
  const weather = drawWeather(stage, words);
  return {
    seed,
    palette,
    shapes: [...layers, ...placeThings(things, stage), ...weather],
    clouds: words.some((word) => /^(cloud|storm|overcast|fog)/.test(word))
      ? 0.75
      : isShapesOnly || scenery.includes("stars")
        ? 0
        : 0.4,
    elements: [
      ...scenery,
      ...things.map(({ name, count }) => (count > 1 ? `${name} × ${count}` : name)),
    ],
  };
}

/** Side by side, the many smaller than the few; those on the ground come nearer one by one. */
function placeThings(things: readonly Thing[], stage: Stage): Shape[] {
  const { palette, random, horizon } = stage;
  const drawn: { depth: number; shapes: readonly Shape[] }[] = [];
  for (const places of [["air"], ["water", "ground"], ["middle"]]) {
    const single = things
      .filter(({ subject }) => places.includes(subject.where))
      .flatMap((thing) => Array.from({ length: thing.count }, (_, index) => ({ thing, index })));
    single.slice(0, 14).forEach(({ thing: { subject, colour, name }, index }, order, all) => {
      const { where } = subject;
      const share = 1 / all.length;
      const x =
        all.length === 1
          ? 0.5 + (random() - 0.5) * (where === "middle" ? 0 : 0.16)
          : (order + 0.5 + (random() - 0.5) * 0.25) * share;
      const depth = random();
      const size =
        Math.min(0.22, 0.1 + 0.3 * share) *
        (subject.scale ?? 1) *
        (0.85 + depth * 0.25) *
        (where === "air" ? 0.6 : where === "ground" ? 0.72 : 1);
      const accent =
        palette.accents[(name.length + index) % palette.accents.length] ?? palette.light;
      const y = {
        air: 0.2 + random() * 0.22,
        water: 0.76 + depth * 0.1,
        ground: stage.hasShore ? 0.89 + depth * 0.06 : horizon + 0.16 + depth * 0.14,
        middle: 0.5,
      }[where];
      const own = colour ?? subject.colour ?? accent;
      const place = {
        x,
        y,
        size,
        colour: palette.isDark && !colour && where !== "middle" ? darken(own, 0.25) : own,
        light: palette.light,
        isDark: palette.isDark ?? false,
        random,
      };
      const shadow =
        where === "ground"
          ? [
              paint(ellipse(x, y, size * 0.7, size * 0.09), [20, 24, 30], {
                to: [20, 24, 30],
                alpha: 0.28,
                softness: size * 0.1,
                isOutlined: false,
              }),
            ]
          : [];
      drawn.push({ depth: where === "air" ? -1 : y, shapes: [...shadow, ...subject.draw(place)] });
    });
  }
  return drawn.sort((a, b) => a.depth - b.depth).flatMap(({ shapes }) => shapes);
}
