import type { Bits } from "./bits.ts";
import { type HuffmanTable, readCode } from "./huffman.ts";
import type { Component, Frame } from "./jpeg-frame.ts";
import { zigzag } from "./zigzag.ts";

/** One pass over the blocks of some components: all of their numbers, or, in a progressive JPEG, some bits of some of them. */
export interface Scan {
  readonly parts: readonly ScanPart[];
  /** Which of the 64 numbers. */
  readonly from: number;
  readonly to: number;
  /** The lowest bit that is told, and whether higher ones were told before. */
  readonly shift: number;
  readonly isRefining: boolean;
  /** Units between two restart markers; 0 for none. */
  readonly restartInterval: number;
}

interface ScanPart {
  readonly component: Component;
  readonly means: HuffmanTable | undefined;
  readonly details: HuffmanTable | undefined;
}

/** Yields after each row of units. Ends early where the bits do. */
export function* readScan(bits: Bits, frame: Frame, scan: Scan): Generator<void> {
  const { parts, restartInterval } = scan;
  const [only] = parts.length === 1 ? parts : [];
  const readers = parts.map((part) => blockReader(bits, frame, scan, part));
  const [unitsWide, unitsHigh] = only
    ? [only.component.blocksWide, only.component.blocksHigh]
    : [frame.unitsWide, frame.unitsHigh];
  for (let unit = 0; unit < unitsWide * unitsHigh; unit++) {
    if (restartInterval > 0 && unit > 0 && unit % restartInterval === 0) {
      bits.restart();
      for (const reader of readers) reader.restart();
    }
    if (bits.isOver) return;
    const [column, row] = [unit % unitsWide, Math.floor(unit / unitsWide)];
    for (const [index, { component }] of parts.entries()) {
      // A scan of one component has its blocks one by one; others take turns.
      const [across, down] = only ? [1, 1] : [component.across, component.down];
      for (let y = 0; y < down; y++)
        for (let x = 0; x < across; x++)
          readers[index]?.read((row * down + y) * component.stride + column * across + x);
    }
    if (column === unitsWide - 1) yield;
  }
}

interface BlockReader {
  read(block: number): void;
  restart(): void;
}

function blockReader(
  bits: Bits,
  { isProgressive, isCoarse }: Frame,
  scan: Scan,
  { component: { coefficients }, means, details }: ScanPart,
): BlockReader {
  const { from, to, shift, isRefining } = scan;
  let mean = 0;
  /** How many blocks more have nothing to tell. */
  let silent = 0;

  function readMean(at: number): void {
    if (isRefining) {
      if (bits.read() === 1) coefficients[at] = (coefficients[at] ?? 0) | (1 << shift);
      return;
    }
    const size = readCode(bits, needed(means));
    if (size > 15) throw new RangeError("a mean of too many bits");
    mean += bits.readSigned(size);
    coefficients[at] = mean << shift;
  }

  /** Of a coarse picture they are only gone over. */
  function readDetails(at: number): void {
    const table = needed(details);
    for (let place = Math.max(1, from); place <= to; place++) {
      const code = readCode(bits, table);
      const [run, size] = [code >> 4, code & 15];
      if (size === 0 && run < 15) {
        silent = (1 << run) - 1 + (run > 0 ? bits.readMany(run) : 0);
        return;
      }
      place += run;
      const value = bits.readSigned(size);
      if (!isCoarse && size > 0 && place < 64)
        coefficients[at + (zigzag[place] ?? 0)] = value << shift;
    }
  }

  /** One more bit of those that are not zero yet to come, and of those that were told of before. */
  function refineDetails(at: number): void {
    const table = needed(details);
    const bit = 1 << shift;
    let place = from;
    while (silent === 0 && place <= to) {
      const code = readCode(bits, table);
      let run = code >> 4;
      const size = code & 15;
      if (size === 0 && run < 15) {
        silent = (1 << run) + (run > 0 ? bits.readMany(run) : 0);
        break;
      }
      const value = size === 0 ? 0 : bits.read() === 1 ? bit : -bit;
      for (; place <= to; place++) {
        const index = at + (zigzag[place] ?? 0);
        if ((coefficients[index] ?? 0) !== 0) refine(index, bit);
        else if (run-- === 0) {
          coefficients[index] = value;
          break;
        }
      }
      place++;
    }
    if (silent === 0) return;
    for (; place <= to; place++) {
      const index = at + (zigzag[place] ?? 0);
      if ((coefficients[index] ?? 0) !== 0) refine(index, bit);
    }
    silent--;
  }

  function refine(index: number, bit: number): void {
    const value = coefficients[index] ?? 0;
    if (bits.read() === 1 && (value & bit) === 0)
      coefficients[index] = value + (value > 0 ? bit : -bit);
  }

  return {
    read(block) {
      const at = block * (isCoarse ? 1 : 64);
      if (from === 0) readMean(at);
      if (to === 0) return;
      if (isProgressive && isRefining) refineDetails(at);
      else if (silent > 0) silent--;
      else readDetails(at);
    },
    restart() {
      mean = 0;
      silent = 0;
    },
  };
}

function needed(table: HuffmanTable | undefined): HuffmanTable {
  if (!table) throw new RangeError("a table that was never told");
  return table;
}
