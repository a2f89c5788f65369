import type { Colour } from "./colours.ts";
import type { Random } from "./noise.ts";
import type { Shape } from "./shapes.ts";

/** Where and how a thing is drawn: `x` and `y` are the middle of the ground it stands on, or its own middle in the air. */
export interface Place {
  readonly x: number;
  readonly y: number;
  /** About half its height. */
  readonly size: number;
  readonly colour: Colour;
  readonly light: Colour;
  readonly isDark: boolean;
  readonly random: Random;
}

/** A thing a prompt can name. */
export interface Subject {
  readonly where: "ground" | "air" | "water" | "middle";
  /** The colour it has by nature; without one it takes an accent of the palette. */
  readonly colour?: Colour;
  /** How large it is beside the others. */
  readonly scale?: number;
  draw(place: Place): readonly Shape[];
}

export const ink: Colour = [30, 30, 40];
export const trunk: Colour = [104, 74, 50];
