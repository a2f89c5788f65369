import { PassThrough, Writable } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import { guardMs } from "../servers/until.ts";

/**
 * A terminal that understands what the client says of its own and nothing else: whatever else comes
 * is noted, and how often the screen was cleared.
 */
export interface StrictTerminal {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  /** Control characters and sequences that are none of ours. */
  readonly foreign: string[];
  clears(): number;
  screen(): string;
  /** The first screen that has all of the texts. */
  until(...texts: readonly string[]): Promise<string>;
}

const size = { columns: 80, rows: 24 };

// Where a row begins, what clears, what the screens are painted with, how the terminal is taken and
// given back, where a frame begins and ends.
const ours =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
  /^\u001b\[(?:(\d+);1H|K|J|2J|(?:[0127]|1;3[0-7]|3[0-7])m|\?(?:1049|25|2004|7|2026)[hl])/;
// Control characters, what turns or hides text, and halves of pairs.
const harmful = /[\p{Cc}\p{Cs}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;

export function openStrictTerminal(): StrictTerminal {
  const foreign: string[] = [];
  const rows: string[] = Array.from({ length: size.rows }, () => "");
  const watchers = new Set<() => void>();
  let row = 0;
  let clears = 0;

  function read(text: string): void {
    for (let at = 0; at < text.length; ) {
      const [sequence, place] = ours.exec(text.slice(at, at + 16)) ?? [];
      if (sequence === undefined) {
        const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
        if (harmful.test(character)) foreign.push(JSON.stringify(text.slice(at, at + 40)));
        rows[row] += character;
        at += character.length;
        continue;
      }
      if (place !== undefined) row = Number(place) - 1;
      if (sequence.endsWith("[K")) rows[row] = "";
      if (sequence.endsWith("[2J")) clears++;
      at += sequence.length;
    }
    for (const watch of watchers) watch();
  }

  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const paper = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      read(String(chunk));
      done();
    },
  });
  const screen = (): string => rows.map((line) => line.trimEnd()).join("\n");
  return {
    stdin: stdin as unknown as ReadStream,
    stdout: Object.assign(paper, {
      ...size,
      isTTY: true,
      getColorDepth: () => 4,
    }) as unknown as WriteStream,
    foreign,
    clears: () => clears,
    screen,
    until: (...texts) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => end(() => reject(new Error(`${texts.join(" and ")} did not appear:\n${screen()}`))),
          guardMs,
        );
        const end = (settle: () => void): void => {
          clearTimeout(timer);
          watchers.delete(look);
          settle();
        };
        const look = (): void => {
          if (texts.every((text) => screen().includes(text))) end(() => resolve(screen()));
        };
        watchers.add(look);
        look();
      }),
  };
}
