/**
 * The picture returned while no image provider is configured: a background in the prompt's colours,
 * three shapes, and the crossed frame that marks a missing picture in a layout sketch.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { crc32, deflate } from "node:zlib";
import type { Scope } from "../../base/scope.ts";
import { runInSlices } from "../../base/timing.ts";
import type { ImageRequest } from "./image.ts";

export interface Placeholder {
  readonly png: Buffer;
  /** The colours named in the prompt. */
  readonly colours: readonly string[];
}

export async function drawPlaceholder(request: ImageRequest, scope: Scope): Promise<Placeholder> {
  const words =
    request.prompt
      .slice(0, 4_000)
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  const colours = [...new Set(words)].filter((word) => namedColours.has(word));

  const size = Number.parseInt(request.size, 10);
  const rows = await runInSlices(paintRows(colourer(request, colours), size), scope);
  return { png: await encodePng(size, rows), colours };
}

type Rgb = readonly [red: number, green: number, blue: number];
/** The colour at a place; both coordinates run from 0 to 1. */
type Colourer = (x: number, y: number) => Rgb;

const ink: Rgb = [28, 26, 36];
const white: Rgb = [255, 255, 255];
const lineWidth = 0.006;
const frameMargin = 0.04;

/** The same prompt always gives the same picture, whatever its letter case. */
function colourer({ prompt, style }: ImageRequest, colours: readonly string[]): Colourer {
  const hash = createHash("sha256").update(prompt.normalize("NFC").toLowerCase()).digest();
  const byte = (index: number): number => hash[index] ?? 0;
  const [first, second] = colours.map((name) => namedColours.get(name));

  const accent = first ?? [64 + byte(0) / 2, 64 + byte(1) / 2, 64 + byte(2) / 2];
  const background = second ?? accent;
  const line = style === "cartoon" ? ink : white;
  const shapes = [3, 6, 9].map((index, order) => ({
    x: 0.2 + 0.25 * order + byte(index) / 2560,
    y: 0.35 + byte(index + 1) / 850,
    radius: 0.08 + byte(index + 2) / 3200,
  }));

  return (x, y) => {
    const edge = Math.min(x, y, 1 - x, 1 - y);
    const diagonal = Math.min(Math.abs(x - y), Math.abs(x + y - 1));
    if (Math.abs(edge - frameMargin) < lineWidth) return line;
    if (edge > frameMargin && diagonal < lineWidth) return line;

    for (const shape of shapes) {
      const [dx, dy] = [Math.abs(x - shape.x), Math.abs(y - shape.y)];
      const distance = style === "abstract" ? dx + dy : Math.sqrt(dx * dx + dy * dy);
      if (style === "cartoon" && Math.abs(distance - shape.radius) < lineWidth) return ink;
      if (distance < shape.radius) return accent;
    }
    return mix(background, white, 0.35 + 0.4 * gradient[style](x, y));
  };
}

/** How far the background has faded to white: smooth, in bands, or not at all. */
const gradient: Readonly<Record<ImageRequest["style"], (x: number, y: number) => number>> = {
  realistic: (_, y) => y,
  artistic: (x, y) => Math.floor((x + 2 * y) * 3) / 9,
  cartoon: () => 0.5,
  abstract: (x, y) => Math.floor((x + y) * 4) / 8,
};

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  const blend = (a: number, b: number): number => a + (b - a) * share;
  return [blend(from[0], to[0]), blend(from[1], to[1]), blend(from[2], to[2])];
}

/** PNG rows: a filter byte (0 for none), then three bytes a pixel. */
function* paintRows(colourAt: Colourer, size: number): Generator<void, Buffer> {
  const rows = Buffer.alloc((1 + size * 3) * size);
  let at = 0;
  for (let row = 0; row < size; row++) {
    at++;
    for (let column = 0; column < size; column++) {
      const [red, green, blue] = colourAt((column + 0.5) / size, (row + 0.5) / size);
      rows[at++] = red;
      rows[at++] = green;
      rows[at++] = blue;
    }
    yield;
  }
  return rows;
}

async function encodePng(size: number, rows: Buffer): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // Eight bits a channel, RGB; compression, filter and interlace methods have one value each.
  header.set([8, 2, 0, 0, 0], 8);

  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  const data = await promisify(deflate)(rows);
  const chunks = [chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

const namedColours: ReadonlyMap<string, Rgb> = new Map([
  ["red", [208, 52, 44]],
  ["orange", [240, 138, 40]],
  ["yellow", [248, 210, 64]],
  ["golden", [226, 176, 58]],
  ["green", [70, 150, 74]],
  ["turquoise", [64, 196, 190]],
  ["blue", [52, 104, 200]],
  ["purple", [124, 66, 170]],
  ["pink", [240, 146, 178]],
  ["brown", [128, 84, 52]],
  ["black", [36, 36, 42]],
  ["white", [244, 244, 240]],
  ["grey", [134, 138, 144]],
  ["gray", [134, 138, 144]],
]);
