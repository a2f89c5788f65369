import type { Palette } from "./colours.ts";
import type { Random } from "./noise.ts";
import type { Scenery } from "./prompt-words.ts";

/** What every part of a picture is drawn on. */
export interface Stage {
  readonly palette: Palette;
  readonly random: Random;
  readonly seed: number;
  readonly scenery: readonly Scenery[];
  /** Where the ground begins. */
  readonly horizon: number;
  /** Whether what stands on the ground needs some before the sea. */
  readonly hasShore: boolean;
}
