// How numbers, characters, strings and symbols are written.

import type { Machine } from "./machine.ts";
import type { Real } from "./numbers.ts";
import { currentPackage, findSymbol } from "./packages.ts";
import { shortestDigits } from "./rationals.ts";
import { readtableCase } from "./reader.ts";
import { type Char, characterName, type Str } from "./string.ts";
import { cl, type Sym, sharedKeywords } from "./symbol.ts";
import { Float, Ratio } from "./values.ts";

export type LetterCase = "UPCASE" | "DOWNCASE" | "CAPITALIZE";

export interface NumberStyle {
  readonly base: number;
  readonly radix: boolean;
}

export function numberText(value: Real, { base, radix }: NumberStyle): string {
  if (value instanceof Float) return floatText(value.value);
  const isRatio = value instanceof Ratio;
  if (base === 10 && !isRatio) return radix ? `${value}.` : String(value);
  const text = isRatio
    ? `${value.numerator.toString(base)}/${value.denominator.toString(base)}`
    : value.toString(base);
  return (radix ? radixPrefix(base, isRatio) : "") + text.toUpperCase();
}

function radixPrefix(base: number, isRatio: boolean): string {
  if (base === 2) return "#b";
  if (base === 8) return "#o";
  if (base === 16) return "#x";
  return base === 10 && !isRatio ? "" : `#${base}r`;
}

const floatFormat = cl("*READ-DEFAULT-FLOAT-FORMAT*");

/** Without an exponent from 0.001 to 10,000,000; always with digits on both sides of the point. */
function floatText(value: number): string {
  const marker =
    floatFormat.value === cl("SINGLE-FLOAT") || floatFormat.value === cl("SHORT-FLOAT") ? "d" : "e";
  const plainEnd = marker === "d" ? "d0" : "";
  if (Number.isNaN(value)) return "#<FLOAT NAN>";
  if (!Number.isFinite(value)) return value > 0 ? "#<FLOAT INFINITY>" : "#<FLOAT -INFINITY>";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const { digits, exponent } = shortestDigits(Math.abs(value));
  if (value === 0) return `${sign}0.0${plainEnd}`;
  if (exponent > -3 && exponent < 8) return `${sign}${plainText(digits, exponent)}${plainEnd}`;
  return `${sign}${plainText(digits, 1)}${marker}${exponent - 1}`;
}

function plainText(digits: string, point: number): string {
  if (point <= 0) return `0.${"0".repeat(-point)}${digits}`;
  return `${digits.slice(0, point).padEnd(point, "0")}.${digits.slice(point) || "0"}`;
}

export function characterText(character: Char): string {
  return `#\\${characterName(character.code) ?? String.fromCodePoint(character.code)}`;
}

export function stringText(string: Str): string {
  return `"${string.toString().replace(/["\\]/g, "\\$&")}"`;
}

export interface SymbolStyle {
  readonly escape: boolean;
  readonly letterCase: LetterCase;
  readonly gensym: boolean;
  readonly base: number;
  readonly readably: boolean;
}

export function symbolText(m: Machine, sym: Sym, style: SymbolStyle): string {
  if (!style.escape) return inCase(sym.name, style.letterCase);
  return symbolPrefix(m, sym, style) + nameText(sym.name, style);
}

function symbolPrefix(m: Machine, sym: Sym, style: SymbolStyle): string {
  const { pkg } = sym;
  if (pkg === sharedKeywords) return ":";
  if (pkg === null) return style.gensym ? "#:" : "";
  const current = currentPackage(m);
  if (current === pkg || findSymbol(current, sym.name)?.sym === sym) return "";
  return nameText(pkg.name, style) + (pkg.external.has(sym.name) ? ":" : "::");
}

/** A symbol name, escaped so that it can be read back. */
function nameText(name: string, style: SymbolStyle): string {
  const plain = inCase(name, style.letterCase);
  // A readable text must mean the same in the standard syntax, whatever the readtable is now.
  const isSafe = !style.readably || readtableCase() === "UPCASE" || plain.toUpperCase() === name;
  if (isSafe && !needsBars(name, style.base)) return plain;
  return `|${name.replace(/[|\\]/g, "\\$&")}|`;
}

// Names that the reader would split, convert or misread.
const special = /[\s()"';`,|\\:\p{Cc}]/u;
const converted = { UPCASE: /\p{Ll}/u, DOWNCASE: /\p{Lu}/u, PRESERVE: /$^/, INVERT: /$^/ };
// A potential number of the standard: it has a digit, and no two adjacent letters.
const numeric = /^(?=.*\d)(?!.*[a-z]{2})(?!.*[+-]$)[\d+\-.^_][\da-z+\-./^_]*$/i;

function needsBars(name: string, base: number): boolean {
  // Most names are plain; the other patterns are slow to compile.
  if (base <= 10 && /^[A-Z*%&][A-Z0-9*%&+/-]*$/.test(name) && readtableCase() === "UPCASE")
    return false;
  if (name === "" || special.test(name) || /^\.+$/.test(name) || name.startsWith("#")) return true;
  if (converted[readtableCase()].test(name)) return true;
  if (numeric.test(name)) return true;
  return base > 10 && isInteger(name, base);
}

function isInteger(name: string, base: number): boolean {
  const last = (base - 1).toString(36);
  return new RegExp(`^[+-]?[0-9a-${last}]+(/[0-9a-${last}]+)?$`, "i").test(name);
}

function inCase(name: string, letterCase: LetterCase): string {
  const readCase = readtableCase();
  if (readCase === "PRESERVE" || letterCase === readCase) return name;
  if (readCase === "INVERT") {
    if (!/\p{Ll}/u.test(name)) return name.toLowerCase();
    return /\p{Lu}/u.test(name) ? name : name.toUpperCase();
  }
  // Only letters of the case that the reader makes are converted.
  const letters = readCase === "UPCASE" ? /\p{Lu}+/gu : /\p{Ll}+/gu;
  if (letterCase === "UPCASE") return name.replace(letters, (found) => found.toUpperCase());
  if (letterCase === "DOWNCASE") return name.replace(letters, (found) => found.toLowerCase());
  return name.replace(/[\p{L}\p{N}]+/gu, (word) =>
    readCase === "UPCASE"
      ? word.charAt(0) + word.slice(1).toLowerCase()
      : word.charAt(0).toUpperCase() + word.slice(1),
  );
}
