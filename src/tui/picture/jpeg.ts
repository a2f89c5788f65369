import { Bits, findMarker } from "./bits.ts";
import { createHuffmanTable, type HuffmanTable } from "./huffman.ts";
import { type Frame, readFrame } from "./jpeg-frame.ts";
import { type ColourModel, paintFrame } from "./jpeg-pixels.ts";
import { readScan, type Scan } from "./jpeg-scan.ts";
import { readOrientation, turn } from "./orientation.ts";
import type { Picture } from "./picture.ts";
import { zigzag } from "./zigzag.ts";

/**
 * Reads a JPEG, sequential or progressive, grey, coloured or for print. It yields often. Throws for what is none, and for the kinds that hardly
 * anybody writes (arithmetic, lossless, twelve bits); one that ends too early is shown as far as it goes.
 */
export function* readJpeg(bytes: Uint8Array): Generator<void, Picture> {
  const reading: Reading = {
    frame: undefined,
    quantizations: [],
    means: [],
    details: [],
    restartInterval: 0,
    adobe: undefined,
    orientation: undefined,
  };
  let at = 2;
  let scans = 0;
  while (at + 4 <= bytes.length) {
    at = findMarker(bytes, at);
    const marker = bytes[at + 1] ?? end;
    if (marker === end || at >= bytes.length) break;
    if (hasNoBody(marker)) {
      at += 2;
      continue;
    }
    const body = bodyOf(bytes, at + 2);
    at += 4 + body.byteLength;
    if (marker !== startOfScan) take(marker, body, reading);
    else if (++scans > scansMax) break;
    else if (reading.frame) at = yield* takeScan(bytes, at, reading, reading.frame, body);
    yield;
  }
  if (!reading.frame) throw new RangeError("a JPEG without a frame");
  const picture = yield* paintFrame(
    reading.frame,
    reading.quantizations,
    colourModel(reading.frame, reading.adobe),
  );
  return turn(picture, reading.orientation ?? 1);
}

export function isJpeg(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff;
}

/** What the segments have told so far. */
interface Reading {
  frame: Frame | undefined;
  readonly quantizations: Uint16Array[];
  readonly means: HuffmanTable[];
  readonly details: HuffmanTable[];
  restartInterval: number;
  /** How Adobe's programs say the colours are told. */
  adobe: number | undefined;
  /** How the camera was held. */
  orientation: number | undefined;
}

const startOfScan = 0xda;
const end = 0xd9;
/** Ten are usual; each goes over the whole image. */
const scansMax = 64;

function hasNoBody(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

function bodyOf(bytes: Uint8Array, at: number): DataView {
  const length = new DataView(bytes.buffer, bytes.byteOffset + at, 2).getUint16(0);
  return new DataView(bytes.buffer, bytes.byteOffset + at + 2, length - 2);
}

function take(marker: number, body: DataView, reading: Reading): void {
  switch (marker) {
    case 0xc0:
    case 0xc1:
    case 0xc2:
      if (reading.frame) throw new RangeError("a second frame");
      reading.frame = readFrame(marker, body);
      return;
    case 0xc4:
      takeHuffmanTables(body, reading);
      return;
    case 0xdb:
      takeQuantizations(body, reading);
      return;
    case 0xdd:
      reading.restartInterval = body.getUint16(0);
      return;
    case 0xe1:
      reading.orientation ??= readOrientation(body);
      return;
    case 0xee:
      if (body.byteLength >= 12 && body.getUint32(0) === 0x41646f62)
        reading.adobe = body.getUint8(11);
      return;
    default:
      if (marker >= 0xc3 && marker <= 0xcf && marker !== 0xc8 && marker !== 0xcc)
        throw new RangeError("a JPEG of a kind that is not read");
  }
}

function takeHuffmanTables(body: DataView, { means, details }: Reading): void {
  for (let at = 0; at + 17 <= body.byteLength; ) {
    const head = body.getUint8(at);
    const counts = new Uint8Array(body.buffer, body.byteOffset + at + 1, 16);
    const values = new Uint8Array(
      body.buffer,
      body.byteOffset + at + 17,
      counts.reduce((sum, count) => sum + count, 0),
    );
    (head >> 4 === 0 ? means : details)[head & 3] = createHuffmanTable(counts, values);
    at += 17 + values.length;
  }
}

function takeQuantizations(body: DataView, { quantizations }: Reading): void {
  for (let at = 0; at + 65 <= body.byteLength; ) {
    const head = body.getUint8(at);
    const isWide = head >> 4 !== 0;
    const table = new Uint16Array(64);
    for (const [index, place] of zigzag.entries())
      table[place] = isWide ? body.getUint16(at + 1 + index * 2) : body.getUint8(at + 1 + index);
    quantizations[head & 3] = table;
    at += isWide ? 129 : 65;
  }
}

/** Goes over the data of a scan; resolves with where it ends. Details of a picture that is shown without them are not looked at. */
function* takeScan(
  bytes: Uint8Array,
  at: number,
  reading: Reading,
  frame: Frame,
  body: DataView,
): Generator<void, number> {
  const scan = scanOf(reading, frame, body);
  if (frame.isCoarse && scan.from > 0) return at;
  const bits = new Bits(bytes, at);
  yield* readScan(bits, frame, scan);
  return bits.at;
}

function scanOf(
  { means, details, restartInterval }: Reading,
  { components, isProgressive }: Frame,
  body: DataView,
): Scan {
  const count = body.getUint8(0);
  const parts = Array.from({ length: count }, (_, index) => {
    const [id, tables] = [body.getUint8(1 + index * 2), body.getUint8(2 + index * 2)];
    const component = components.find((one) => one.id === id);
    if (!component) throw new RangeError("a scan of what is not in the frame");
    return { component, means: means[(tables >> 4) & 3], details: details[tables & 3] };
  });
  const rest = 1 + count * 2;
  if (!isProgressive)
    return { parts, from: 0, to: 63, shift: 0, isRefining: false, restartInterval };
  const [from, to, bits] = [body.getUint8(rest), body.getUint8(rest + 1), body.getUint8(rest + 2)];
  if (from > to || to > 63 || (from > 0 && count > 1)) throw new RangeError("a scan of no numbers");
  return { parts, from, to, shift: bits & 15, isRefining: bits >> 4 > 0, restartInterval };
}

function colourModel({ components }: Frame, adobe: number | undefined): ColourModel {
  if (components.length === 1) return "grey";
  if (components.length === 4)
    return adobe === undefined ? "cmyk" : adobe === 2 ? "inverted ycck" : "inverted cmyk";
  const isNamed = components.map(({ id }) => String.fromCharCode(id)).join("") === "RGB";
  return adobe === 0 || (adobe === undefined && isNamed) ? "rgb" : "ycc";
}
