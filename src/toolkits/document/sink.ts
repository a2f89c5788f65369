import { HallError } from "../../base/errors.ts";

/** Where a parser puts the text it finds, piece by piece. Joined as it grows: a million small strings weigh ten times what they say. */
export interface TextSink {
  put(text: string): void;
  text(): string;
}

const piecesMax = 2_000_000;
const piecesAtOnce = 1_024;

export function createTextSink(): TextSink {
  const blocks: string[] = [];
  let pieces: string[] = [];
  let count = 0;
  const join = (): void => {
    blocks.push(pieces.join(""));
    pieces = [];
  };
  return {
    put(text) {
      if (++count > piecesMax)
        throw new HallError("TOO_LARGE", `the document is made of more than ${piecesMax} pieces`);
      pieces.push(text);
      if (pieces.length === piecesAtOnce) join();
    },
    text() {
      join();
      return blocks.join("");
    },
  };
}
