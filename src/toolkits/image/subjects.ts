import { buildings } from "./buildings.ts";
import { creatures } from "./creatures.ts";
import { figures } from "./figures.ts";
import { plants } from "./plants.ts";
import type { Subject } from "./subject.ts";
import { vehicles } from "./vehicles.ts";

/** Every thing a prompt can name, by its plainest word. */
export const subjects: Readonly<Record<string, Subject>> = {
  ...plants,
  ...buildings,
  ...vehicles,
  ...creatures,
  ...figures,
};
