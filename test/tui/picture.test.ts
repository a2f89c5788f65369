import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { deflateSync } from "node:zlib";
import { build } from "esbuild";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderCells } from "../../src/tui/parts/line.ts";
import { imageLines, type Picture, readPicture as readInWorker } from "../../src/tui/picture.ts";
import { decodeHere as readPicture } from "./client-bench.ts";
import { type PngSource, pngOf, writePng } from "./png-writer.ts";

const folder = new URL("pictures/", import.meta.url);
const jpegs = readdirSync(folder);
const jpeg = (name: string): Buffer => readFileSync(new URL(name, folder));

/** What the JPEGs show: red grows to the right, green downwards, over a pattern of squares. */
function patternAt(
  x: number,
  y: number,
  { width, height, square }: { width: number; height: number; square: number },
): readonly [number, number, number] {
  const light = 40 * ((Math.floor(x / square) + Math.floor(y / square)) % 2);
  return [30 + (150 * x) / width + light, 30 + (150 * y) / height + light, 80 + light];
}

function pixel({ width, pixels }: Picture, x: number, y: number): readonly number[] {
  return [...pixels.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)];
}

/** How far the picture is from what it should show, on the mean. */
function meanError(
  picture: Picture,
  from: { width: number; height: number; square: number },
  isGrey: boolean,
): number {
  let sum = 0;
  for (let y = 0; y < picture.height; y++) {
    for (let x = 0; x < picture.width; x++) {
      const [red, green, blue] = patternAt(
        ((x + 0.5) * from.width) / picture.width,
        ((y + 0.5) * from.height) / picture.height,
        from,
      );
      const grey = 0.299 * red + 0.587 * green + 0.114 * blue;
      const wanted = isGrey ? [grey, grey, grey] : [red, green, blue];
      for (const [index, value] of wanted.entries())
        sum += Math.abs(value - (pixel(picture, x, y)[index] ?? 0)) / 3;
    }
  }
  return sum / (picture.width * picture.height);
}

describe("JPEG", () => {
  test.each(jpegs.filter((name) => !name.startsWith("large")))("%s is decoded", async (name) => {
    const picture = await readPicture(jpeg(name));
    expect(picture).toMatchObject({ width: 45, height: 35 });
    expect(
      picture && meanError(picture, { width: 45, height: 35, square: 4 }, name.startsWith("grey")),
    ).toBeLessThan(5);
  });

  test.each(jpegs.filter((name) => name.startsWith("large")))("%s is shrunk", async (name) => {
    const picture = await readPicture(jpeg(name));
    expect(picture).toMatchObject({ width: 154, height: 120 });
    expect(
      picture && meanError(picture, { width: 1800, height: 1400, square: 200 }, false),
    ).toBeLessThan(5);
  });

  /** How a camera was held: where red, which grows along a row, and green, which grows from row to row, grow once it is turned. */
  const held = [
    [1, "right", "down"],
    [2, "left", "down"],
    [3, "left", "up"],
    [4, "right", "up"],
    [5, "down", "right"],
    [6, "down", "left"],
    [7, "up", "left"],
    [8, "up", "right"],
  ] as const;

  test.each(held)(
    "Exif orientation %i is applied: red grows %s, green %s",
    async (orientation, redWay, greenWay) => {
      for (const isLittle of [true, false]) {
        const picture = (await readPicture(
          withExif(jpeg("sequential.jpg"), { orientation, isLittle }),
        )) as Picture;
        expect(picture).toMatchObject(
          orientation > 4 ? { width: 35, height: 45 } : { width: 45, height: 35 },
        );
        expect([wayOf(picture, 0), wayOf(picture, 1)]).toEqual([redWay, greenWay]);
      }
    },
  );

  test("an invalid Exif orientation is ignored", async () => {
    for (const orientation of [0, 9, 65_535]) {
      const picture = await readPicture(
        withExif(jpeg("sequential.jpg"), { orientation, isLittle: true }),
      );
      expect(picture).toEqual(await readPicture(jpeg("sequential.jpg")));
    }
    const whole = withExif(jpeg("sequential.jpg"), { orientation: 6, isLittle: true });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 6, max: 33 }),
        fc.integer({ min: 0, max: 255 }),
        async (at, byte) => {
          const damaged = Buffer.from(whole);
          damaged[at] = byte;
          expect((await readPicture(damaged))?.pixels.length).toBe(45 * 35 * 4);
        },
      ),
      { numRuns: 100 },
    );
  });

  /** Two notes: a width, which is passed over, and how the camera was held. */
  function withExif(
    bytes: Buffer,
    { orientation, isLittle }: { readonly orientation: number; readonly isLittle: boolean },
  ): Buffer {
    const short = (value: number): number[] =>
      isLittle ? [value & 255, value >> 8] : [value >> 8, value & 255];
    const long = (value: number): number[] =>
      isLittle ? [...short(value), 0, 0] : [0, 0, ...short(value)];
    const entry = (tag: number, value: number): number[] => [
      ...short(tag),
      ...short(3),
      ...long(1),
      ...short(value),
      0,
      0,
    ];
    const head = [...(isLittle ? Buffer.from("II") : Buffer.from("MM")), ...short(42), ...long(8)];
    const body = [
      ...Buffer.from("Exif\0\0"),
      ...head,
      ...short(2),
      ...entry(0x0100, 45),
      ...entry(0x0112, orientation),
      ...long(0),
    ];
    const length = body.length + 2;
    return Buffer.concat([
      bytes.subarray(0, 2),
      Buffer.from([0xff, 0xe1, length >> 8, length & 255, ...body]),
      bytes.subarray(2),
    ]);
  }

  /** Where a colour grows the most, by its means over the halves. */
  function wayOf(picture: Picture, colour: 0 | 1): string {
    const mean = (isIn: (x: number, y: number) => boolean): number => {
      let [sum, count] = [0, 0];
      for (let y = 0; y < picture.height; y++) {
        for (let x = 0; x < picture.width; x++) {
          if (!isIn(x, y)) continue;
          sum += pixel(picture, x, y)[colour] ?? 0;
          count++;
        }
      }
      return sum / count;
    };
    const right = mean((x) => x > picture.width / 2) - mean((x) => x < picture.width / 2);
    const down = mean((_x, y) => y > picture.height / 2) - mean((_x, y) => y < picture.height / 2);
    return Math.abs(right) > Math.abs(down)
      ? right > 0
        ? "right"
        : "left"
      : down > 0
        ? "down"
        : "up";
  }

  test("a truncated image is not shown", async () => {
    const whole = jpeg("sequential.jpg");
    expect(await readPicture(whole.subarray(0, whole.length - 400))).toBeUndefined();
  });

  test("an image with huge dimensions is refused", async () => {
    const claim = Buffer.from(jpeg("sequential.jpg"));
    const frame = claim.indexOf(Buffer.from([0xff, 0xc0]));
    claim.writeUInt16BE(65_500, frame + 5);
    claim.writeUInt16BE(65_500, frame + 7);
    expect(await readPicture(claim)).toBeUndefined();
  });
});

describe("PNG", () => {
  /** Kind, depth, and how many samples a pixel has. */
  const kinds: readonly (readonly [kind: number, depth: number, samples: number])[] = [
    ...[1, 2, 4, 8, 16].map((depth) => [0, depth, 1] as const),
    ...[8, 16].flatMap((depth) => [
      [2, depth, 3] as const,
      [4, depth, 2] as const,
      [6, depth, 4] as const,
    ]),
    ...[1, 2, 4, 8].map((depth) => [3, depth, 1] as const),
  ];
  const sources = fc.constantFrom(...kinds).chain(([kind, depth, samples]) =>
    fc
      .record({
        width: fc.integer({ min: 1, max: 20 }),
        height: fc.integer({ min: 1, max: 20 }),
        isInterlaced: fc.boolean(),
      })
      .chain(({ width, height, isInterlaced }) => {
        const pixels = fc.array(fc.integer({ min: 0, max: 2 ** depth - 1 }), {
          minLength: samples,
          maxLength: samples,
        });
        const row = fc.array(pixels, { minLength: width, maxLength: width });
        return fc.record<PngSource>({
          ...{
            width: fc.constant(width),
            height: fc.constant(height),
            depth: fc.constant(depth),
            kind: fc.constant(kind),
          },
          isInterlaced: fc.constant(isInterlaced),
          rows: fc.array(row, { minLength: height, maxLength: height }),
          filters: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 7 }),
          palette: fc.uint8Array({ minLength: 768, maxLength: 768 }).map((bytes) => [...bytes]),
        });
      }),
  );

  test("every colour type, depth, filter and interlacing is decoded exactly", async () => {
    await fc.assert(
      fc.asyncProperty(sources, async (source) => {
        const picture = await readPicture(writePng(source));
        expect(picture).toMatchObject({ width: source.width, height: source.height });
        for (const [y, row] of source.rows.entries()) {
          for (const [x, samples] of row.entries()) {
            const [red, green, blue, alpha] = colourOf(source, samples);
            const seen = picture && pixel(picture, x, y);
            // The colour of a transparent pixel does not matter.
            if (alpha === 0) expect(seen?.[3]).toBe(0);
            else expect(seen).toEqual([red, green, blue, alpha]);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  function colourOf(
    { kind, depth, palette = [] }: PngSource,
    samples: readonly number[],
  ): readonly number[] {
    const [first = 0, second = 0, third = 0, fourth = 255] = samples.map((sample) =>
      depth === 16 ? Math.round((sample * 255) / 65_535) : sample,
    );
    const grey = depth < 8 ? Math.round((first * 255) / (2 ** depth - 1)) : first;
    if (kind === 3) return [...palette.slice(first * 3, first * 3 + 3), 255];
    if (kind === 0) return [grey, grey, grey, 255];
    return kind === 4 ? [first, first, first, second] : [first, second, third, fourth];
  }

  test("transparent colours and palette entries are transparent", async () => {
    const rows = [[[0], [1]]];
    const seen = await readPicture(
      writePng({
        width: 2,
        height: 1,
        depth: 8,
        kind: 3,
        rows,
        palette: [9, 9, 9, 7, 7, 7],
        transparent: [0],
      }),
    );
    expect([...(seen?.pixels ?? [])]).toEqual([9, 9, 9, 0, 7, 7, 7, 255]);
    const keyed = await readPicture(
      writePng({ width: 2, height: 1, depth: 8, kind: 0, rows, transparent: [0, 1] }),
    );
    expect([...(keyed?.pixels ?? [])]).toEqual([0, 0, 0, 255, 0, 0, 0, 0]);
  });

  test("a decompression bomb is refused without inflating it", async () => {
    const bombOf = (header: string): Buffer =>
      pngOf([
        ["IHDR", Buffer.from(header, "hex")],
        ["IDAT", deflateSync(Buffer.alloc(32 * 1024 * 1024))],
        ["IEND", Buffer.alloc(0)],
      ]);
    const bomb = bombOf("00000002000000020802000000");
    // Interlaced images take another way through the decoder.
    const interlaced = bombOf("00000002000000020802000001");
    const before = process.memoryUsage().arrayBuffers;
    expect(await readPicture(bomb)).toBeUndefined();
    expect(await readPicture(interlaced)).toBeUndefined();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
  });

  test("huge and empty dimensions are refused", async () => {
    const header = Buffer.from("ffffffffffffffff0802000000", "hex");
    expect(await readPicture(pngOf([["IHDR", header]]))).toBeUndefined();
    expect(
      await readPicture(pngOf([["IHDR", Buffer.from("00000000000000000802000000", "hex")]])),
    ).toBeUndefined();
  });
});

test("damaged images and other data never throw", async () => {
  const whole = [
    ...jpegs.filter((name) => !name.startsWith("large")).map(jpeg),
    writePng({
      width: 2,
      height: 2,
      depth: 8,
      kind: 0,
      rows: [
        [[1], [2]],
        [[3], [4]],
      ],
    }),
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...whole),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 6 }),
      fc.nat(),
      async (bytes, changes, length) => {
        const broken = Buffer.from(
          bytes.subarray(0, changes.length === 6 ? length % bytes.length : bytes.length),
        );
        for (const [at, value] of changes) broken[at % Math.max(1, broken.length)] = value;
        const picture = await readPicture(broken);
        if (picture) expect(picture.pixels.length).toBe(picture.width * picture.height * 4);
      },
    ),
    { numRuns: 150 },
  );
  for (const text of ["", "GIF89a", "<svg/>", "\u0089PNG"])
    expect(await readPicture(Buffer.from(text, "latin1"))).toBeUndefined();
});

test("the worker thread returns a picture, and nothing for a damaged image", async () => {
  const built = mkdtempSync(join(tmpdir(), "guildhall-picture-"));
  const outfile = join(built, "worker.mjs");
  const source = new URL("../../src/tui/picture-worker.ts", import.meta.url).pathname;
  const js = 'import { createRequire } from "node:module"; const require = createRequire("/");';
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    banner: { js },
  });
  try {
    const worker = pathToFileURL(outfile);
    const whole = jpeg("sequential.jpg");
    expect(await readInWorker(whole, worker)).toMatchObject({ width: 45, height: 35 });
    const damaged = Buffer.from(
      pngOf([["IHDR", Buffer.from("00000002000000020802000000", "hex")]]),
    );
    expect(await readInWorker(damaged, worker)).toBeUndefined();
  } finally {
    rmSync(built, { recursive: true });
  }
});

describe("image lines", () => {
  const [black, white, red, none] = [
    [0, 0, 0, 255],
    [255, 255, 255, 255],
    [255, 0, 0, 255],
    [0, 0, 0, 0],
  ];
  const picture = (...rows: readonly (readonly (readonly number[] | undefined)[])[]): Picture => {
    return {
      width: rows[0]?.length ?? 0,
      height: rows.length,
      pixels: Uint8Array.from(rows.flat(2).map((value) => value ?? 0)),
    };
  };

  test("with colours a character shows two pixels", () => {
    const lines = imageLines(picture([white, white, red, none], [black, black, none, red]), {
      columns: 10,
      rows: 10,
    });
    const cells = [
      { upper: 0xffffff, lower: 0 },
      { upper: 0xffffff, lower: 0 },
      { upper: 0xff0000, lower: undefined },
      { upper: undefined, lower: 0xff0000 },
    ];
    expect(lines).toMatchObject([[{ cells }]]);
  });

  test("a style is written once for equal neighbours, and coarser where the terminal has fewer colours", () => {
    const cells = [
      ...Array.from({ length: 3 }, () => ({ upper: 0xff8000, lower: 0 })),
      { upper: undefined, lower: undefined },
    ];
    for (const [depth, style] of [
      [24, "\u001b[38;2;255;128;0m\u001b[48;2;0;0;0m"],
      [8, "\u001b[38;5;214m\u001b[48;5;16m"],
    ] as const) {
      expect(renderCells(cells, depth)).toBe(`\u001b[0m${style}▀▀▀\u001b[0m \u001b[0m`);
    }
  });

  test("without colours brighter pixels are denser letters, and transparent ones blank", () => {
    const lines = imageLines(picture([white, white, black, none], [white, black, black, none]), {
      columns: 10,
      rows: 10,
    });
    expect(lines).toMatchObject([[{ text: "@+  " }]]);
  });

  test.each([
    [10, 3],
    [3, 10],
    [1, 1],
    [0, -1],
  ])("it keeps its shape within %i columns and %i rows", (columns, rows) => {
    const lines = imageLines(
      { width: 160, height: 120, pixels: new Uint8Array(160 * 120 * 4).fill(200) },
      { columns, rows },
    );
    expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows));
    for (const line of lines)
      expect(line[0]?.cells?.length).toBeLessThanOrEqual(Math.max(1, columns));
  });
});
