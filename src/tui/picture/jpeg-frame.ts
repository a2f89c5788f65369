import { pictureExtent } from "./shrinker.ts";

/** What a JPEG's frame says: its size, its components, and the room for what its scans tell of them. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly isProgressive: boolean;
  /** Only the mean of each block of 8x8 pixels is kept: more than enough for a picture that is shown at an eighth of its size or less. */
  readonly isCoarse: boolean;
  readonly components: readonly Component[];
  /** Units of interleaved scans: the least that has whole blocks of each component. */
  readonly unitsWide: number;
  readonly unitsHigh: number;
}

export interface Component {
  readonly id: number;
  /** Blocks of it in a unit, across and down. */
  readonly across: number;
  readonly down: number;
  readonly quantization: number;
  /** Blocks with something of the image in them. */
  readonly blocksWide: number;
  readonly blocksHigh: number;
  /** Blocks of a row as they are kept: whole units. */
  readonly stride: number;
  /** 64 numbers a block, or the first of them only. */
  readonly coefficients: Int16Array;
}

/** `body` is what stands in the segment. Throws for what we do not read. */
export function readFrame(marker: number, body: DataView): Frame {
  const [precision, height, width, count] = [
    body.getUint8(0),
    body.getUint16(1),
    body.getUint16(3),
    body.getUint8(5),
  ];
  if (precision !== 8 || ![1, 3, 4].includes(count))
    throw new RangeError("a JPEG of a kind that is not read");
  const shown = pictureExtent({ width, height });
  const isCoarse = width >= 8 * shown.width && height >= 8 * shown.height;
  const told = Array.from({ length: count }, (_, index) => readComponent(body, 6 + index * 3));
  const most = {
    across: Math.max(...told.map(({ across }) => across)),
    down: Math.max(...told.map(({ down }) => down)),
  };
  const unitsWide = Math.ceil(width / (8 * most.across));
  const unitsHigh = Math.ceil(height / (8 * most.down));
  const components = told.map(({ id, across, down, quantization }) => ({
    id,
    across,
    down,
    quantization,
    blocksWide: Math.ceil((width * across) / (8 * most.across)),
    blocksHigh: Math.ceil((height * down) / (8 * most.down)),
    stride: unitsWide * across,
    coefficients: new Int16Array(unitsWide * across * unitsHigh * down * (isCoarse ? 1 : 64)),
  }));
  return {
    width,
    height,
    isProgressive: marker === 0xc2,
    isCoarse,
    components,
    unitsWide,
    unitsHigh,
  };
}

function readComponent(
  body: DataView,
  at: number,
): Pick<Component, "id" | "across" | "down" | "quantization"> {
  const factors = body.getUint8(at + 1);
  const [across, down] = [factors >> 4, factors & 15];
  if (across < 1 || across > 4 || down < 1 || down > 4) throw new RangeError("sampling factors");
  return { id: body.getUint8(at), across, down, quantization: body.getUint8(at + 2) };
}
