import type { Expr } from "@cedar-policy/cedar-wasm/nodejs";
import { isObject, type JsonObject } from "../../base/json.ts";

/** The value of an expression in a context; undefined if only Cedar can tell. */
type Reader = (context: JsonObject) => unknown;

const readers = new WeakMap<Expr, Reader>();

/**
 * True if a condition holds for this context; undefined if only Cedar can tell. Simple conditions are evaluated
 * here, because Cedar is slow and one call may have a hundred of them. If Cedar could report an error, or the
 * condition is of an unknown kind, the result is undefined.
 */
export function holdsFor(condition: Expr, context: JsonObject): boolean | undefined {
  let read = readers.get(condition);
  if (!read) {
    read = readerOf(condition);
    readers.set(condition, read);
  }
  const value = read(context);
  return typeof value === "boolean" ? value : undefined;
}

const unknown: Reader = () => undefined;

function readerOf(expression: Expr): Reader {
  const [[kind, parts] = ["", undefined]] = Object.entries(expression as JsonObject);
  if (kind === "Value") return () => parts;
  if (kind === "Var") return parts === "context" ? (context) => context : unknown;
  if (!isObject(parts)) return unknown;
  const of = (name: string): Reader => readerOf(parts[name] as Expr);
  switch (kind) {
    case "&&":
      return and(of("left"), of("right"));
    case "||":
      return not(and(not(of("left")), not(of("right"))));
    case "!":
      return not(of("arg"));
    case ".":
      return lookUp(of("left"), parts.attr, (record, attr) => record[attr]);
    case "has":
      return lookUp(of("left"), parts.attr, (record, attr) => Object.hasOwn(record, attr));
    case "like":
      return like(of("left"), parts.pattern);
    case "==":
      return equal(of("left"), of("right"));
    case "!=":
      return not(equal(of("left"), of("right")));
    case "<":
      return less(of("left"), of("right"));
    case ">":
      return less(of("right"), of("left"));
    case "<=":
      return not(less(of("right"), of("left")));
    case ">=":
      return not(less(of("left"), of("right")));
    default:
      return unknown;
  }
}

/** The right side of Cedar's `&&` must be a truth value, too, and is not read where the left one is false. */
function and(left: Reader, right: Reader): Reader {
  return (context) => {
    const first = left(context);
    if (first !== true) return first === false ? false : undefined;
    const second = right(context);
    return typeof second === "boolean" ? second : undefined;
  };
}

function not(of: Reader): Reader {
  return (context) => {
    const value = of(context);
    return typeof value === "boolean" ? !value : undefined;
  };
}

/** Entities and extension values are objects, too, and Cedar's matter. A missing field is an error there. */
function lookUp(
  of: Reader,
  attr: unknown,
  read: (record: JsonObject, attr: string) => unknown,
): Reader {
  if (typeof attr !== "string") return unknown;
  return (context) => {
    const record = of(context);
    if (!isObject(record) || "__entity" in record || "__extn" in record) return undefined;
    return read(record, attr);
  };
}

function equal(left: Reader, right: Reader): Reader {
  return (context) => {
    const [one, other] = [left(context), right(context)];
    const isComparable =
      (isText(one) && isText(other)) ||
      (Number.isSafeInteger(one) && Number.isSafeInteger(other)) ||
      (typeof one === "boolean" && typeof other === "boolean");
    return isComparable ? one === other : undefined;
  };
}

function less(left: Reader, right: Reader): Reader {
  return (context) => {
    const [one, other] = [left(context), right(context)];
    const areNumbers = Number.isSafeInteger(one) && Number.isSafeInteger(other);
    return areNumbers ? (one as number) < (other as number) : undefined;
  };
}

/** Node 20 has it; the library of TypeScript that we compile with does not. */
type WellFormable = string & { isWellFormed(): boolean };

/** Text that is not well-formed is other text for Cedar. */
function isText(value: unknown): value is string {
  return typeof value === "string" && (value as WellFormable).isWellFormed();
}

function like(of: Reader, pattern: unknown): Reader {
  const texts: string[] = [""];
  for (const part of Array.isArray(pattern) ? (pattern as readonly unknown[]) : [undefined]) {
    if (part === "Wildcard") texts.push("");
    else if (isObject(part) && typeof part.Literal === "string")
      texts[texts.length - 1] += part.Literal;
    else return unknown;
  }
  const [first = "", ...rest] = texts;
  const last = rest.pop();
  return (context) => {
    const text = of(context);
    if (!isText(text)) return undefined;
    if (last === undefined) return text === first;
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    return holdsInOrder(text, rest, first.length, text.length - last.length);
  };
}

/** True if the parts follow each other between these places. */
function holdsInOrder(text: string, parts: readonly string[], start: number, end: number): boolean {
  let at = start;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= end;
}
