/** What a character is called, and which case it has. */

const controls =
  "Nul Soh Stx Etx Eot Enq Ack Bel Backspace Tab Newline Vt Page Return So Si Dle Dc1 Dc2 Dc3 Dc4 Nak Syn Etb Can Em Sub Esc Fs Gs Rs Us Space".split(
    " ",
  );
const others: readonly (readonly [string, number])[] = [
  ["Null", 0],
  ["Bell", 7],
  ["Bs", 8],
  ["Ht", 9],
  ["Linefeed", 10],
  ["Lf", 10],
  ["Nl", 10],
  ["Ff", 12],
  ["Cr", 13],
  ["Escape", 27],
  ["Altmode", 27],
  ["Sp", 32],
  ["Del", 127],
  ["Delete", 127],
  ["Rubout", 127],
  ["Nbsp", 160],
  ["No-Break_space", 160],
];

const byName = new Map<string, number>([
  ...controls.map((name, code) => [name.toUpperCase(), code] as const),
  ...others.map(([name, code]) => [name.toUpperCase(), code] as const),
]);

/** Undefined for characters that print as themselves. */
export function characterName(code: number): string | undefined {
  if (code <= 32) return controls[code];
  if (code === 127) return "Rubout";
  if (code === 160) return "No-break_space";
  return isGraphic(code) ? undefined : `U${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Names in any case, and `U+00E9` or `UE9` for any code. */
export function characterNamed(name: string): number | undefined {
  const found = byName.get(name.toUpperCase());
  if (found !== undefined) return found;
  const hex = /^U\+?([0-9A-F]{1,6})$/i.exec(name)?.[1];
  const code = hex === undefined ? Number.NaN : Number.parseInt(hex, 16);
  return code <= 0x10ffff ? code : undefined;
}

export function isGraphic(code: number): boolean {
  return code >= 32 && code !== 127 && !(code >= 128 && code < 160);
}

export function isAlphabetic(code: number): boolean {
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
  return /\p{L}/u.test(String.fromCodePoint(code));
}

export function isUpper(code: number): boolean {
  if (code < 128) return code >= 65 && code <= 90;
  return lowerCode(code) !== code;
}

export function isLower(code: number): boolean {
  if (code < 128) return code >= 97 && code <= 122;
  return upperCode(code) !== code;
}

export function isAlphanumeric(code: number): boolean {
  if (code < 128) return isAlphabetic(code) || (code >= 48 && code <= 57);
  return /[\p{L}\p{N}]/u.test(String.fromCodePoint(code));
}

/** Only characters that go there and back have a case: ß has none. */
export function upperCode(code: number): number {
  if (code < 128) return code >= 97 && code <= 122 ? code - 32 : code;
  return counterpart(
    code,
    (text) => text.toUpperCase(),
    (text) => text.toLowerCase(),
  );
}

export function lowerCode(code: number): number {
  if (code < 128) return code >= 65 && code <= 90 ? code + 32 : code;
  return counterpart(
    code,
    (text) => text.toLowerCase(),
    (text) => text.toUpperCase(),
  );
}

function counterpart(
  code: number,
  there: (text: string) => string,
  back: (text: string) => string,
): number {
  const text = String.fromCodePoint(code);
  const other = there(text);
  const found = other.codePointAt(0) ?? code;
  return String.fromCodePoint(found) === other && back(other) === text ? found : code;
}

/** The weight of a digit in a radix up to 36. */
export function digitWeight(code: number, radix: number): number | undefined {
  const weight =
    code >= 48 && code <= 57
      ? code - 48
      : code >= 97 && code <= 122
        ? code - 87
        : code >= 65 && code <= 90
          ? code - 55
          : 99;
  return weight < radix ? weight : undefined;
}
