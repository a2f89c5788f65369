/** Chance that is the same every time: all of it follows from a text. */
export type Random = () => number;

/** FNV-1a, mixed once more because near texts must not give near pictures. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text, "utf8")) hash = Math.imul(hash ^ byte, 0x01000193);
  return mix(hash);
}

/** Numbers from 0 up to 1 (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    return mix(state) / 2 ** 32;
  };
}

/** Smooth noise between 0 and 1, with three finer copies of itself on top. */
export function cloudNoise(x: number, y: number, seed: number): number {
  return (
    valueNoise(x, y, seed) * 0.53 +
    valueNoise(x * 2, y * 2, seed + 1) * 0.27 +
    valueNoise(x * 4, y * 4, seed + 2) * 0.13 +
    valueNoise(x * 8, y * 8, seed + 3) * 0.07
  );
}

export function valueNoise(x: number, y: number, seed: number): number {
  const column = Math.floor(x);
  const row = Math.floor(y);
  const across = ease(x - column);
  const down = ease(y - row);
  const top =
    cellNoise(column, row, seed) * (1 - across) + cellNoise(column + 1, row, seed) * across;
  const bottom =
    cellNoise(column, row + 1, seed) * (1 - across) + cellNoise(column + 1, row + 1, seed) * across;
  return top * (1 - down) + bottom * down;
}

/** One number for each cell of a grid. */
export function cellNoise(column: number, row: number, seed: number): number {
  return (
    mix(Math.imul(column, 0x27d4eb2d) ^ Math.imul(row, 0x165667b1) ^ Math.imul(seed, 0x9e3779b1)) /
    2 ** 32
  );
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 15), value | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (mixed ^ (mixed >>> 14)) >>> 0;
}

function ease(t: number): number {
  return t * t * (3 - 2 * t);
}
