import type { Picture } from "./picture.ts";

/**
 * How a camera was held, as it notes it in a JPEG (Exif, tag 0x0112): the numbers 1 to 8. What is not understood is left as it is: a picture
 * that lies on its side is better than none.
 */
export function readOrientation(segment: DataView): number | undefined {
  if (segment.byteLength < 14 || segment.getUint32(0) !== exif || segment.getUint16(4) !== 0)
    return undefined;
  const tiff = new DataView(segment.buffer, segment.byteOffset + 6, segment.byteLength - 6);
  const isLittle = tiff.getUint16(0) === littleEndian;
  const start = tiff.getUint32(4, isLittle);
  if (start + 2 > tiff.byteLength) return undefined;
  const entries = Math.min(
    tiff.getUint16(start, isLittle),
    Math.floor((tiff.byteLength - start - 2) / entryBytes),
  );
  for (let at = start + 2; at < start + 2 + entries * entryBytes; at += entryBytes) {
    if (tiff.getUint16(at, isLittle) !== orientationTag) continue;
    const told = tiff.getUint16(at + 8, isLittle);
    return told >= 1 && told <= 8 ? told : undefined;
  }
  return undefined;
}

const exif = 0x45786966;
const littleEndian = 0x4949;
const orientationTag = 0x0112;
const entryBytes = 12;

/** The picture as it was seen through the camera. */
export function turn(picture: Picture, orientation: number): Picture {
  // From 5 on the first row is a column of what was seen.
  const isOnItsSide = orientation > 4;
  const [width, height] = isOnItsSide
    ? [picture.height, picture.width]
    : [picture.width, picture.height];
  const isFromRight = [2, 3, 7, 8].includes(orientation);
  const isFromBelow = [3, 4, 6, 7].includes(orientation);
  const pixels = new Uint8Array(picture.pixels.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [across, down] = isOnItsSide ? [y, x] : [x, y];
      const fromX = isFromRight ? picture.width - 1 - across : across;
      const fromY = isFromBelow ? picture.height - 1 - down : down;
      const from = (fromY * picture.width + fromX) * 4;
      pixels.set(picture.pixels.subarray(from, from + 4), (y * width + x) * 4);
    }
  }
  return { width, height, pixels };
}
