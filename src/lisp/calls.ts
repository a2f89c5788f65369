// Calls of functions. Those that are compiled and have only required parameters are entered here; all others have
// entry points of their own. A call takes one step, one level of depth and the frame of that depth.
import { exceed } from "./budgets.ts";
import type { Fn, Frame } from "./function.ts";
import type { Machine } from "./machine.ts";
import { NIL } from "./symbol.ts";
import type { Value } from "./values.ts";

export function enter0(m: Machine, fn: Fn): Value {
  const { code } = fn;
  if (code.arity !== 0) return code.c0(m, fn);
  return runBody(m, frameAt(m, fn, code.size), code.body);
}

export function enter1(m: Machine, fn: Fn, a: Value): Value {
  const { code } = fn;
  if (code.arity !== 1) return code.c1(m, fn, a);
  const frame = frameAt(m, fn, code.size);
  frame[1] = a;
  return runBody(m, frame, code.body);
}

export function enter2(m: Machine, fn: Fn, a: Value, b: Value): Value {
  const { code } = fn;
  if (code.arity !== 2) return code.c2(m, fn, a, b);
  const frame = frameAt(m, fn, code.size);
  frame[1] = a;
  frame[2] = b;
  return runBody(m, frame, code.body);
}

export function enter3(m: Machine, fn: Fn, a: Value, b: Value, c: Value): Value {
  const { code } = fn;
  if (code.arity !== 3) return code.c3(m, fn, a, b, c);
  const frame = frameAt(m, fn, code.size);
  frame[1] = a;
  frame[2] = b;
  frame[3] = c;
  return runBody(m, frame, code.body);
}

export function enter4(m: Machine, fn: Fn, a: Value, b: Value, c: Value, d: Value): Value {
  const { code } = fn;
  if (code.arity !== 4) return code.cn(m, fn, [a, b, c, d]);
  const frame = frameAt(m, fn, code.size);
  frame[1] = a;
  frame[2] = b;
  frame[3] = c;
  frame[4] = d;
  return runBody(m, frame, code.body);
}

/** The entry of compiled functions with only required parameters for a list of arguments. */
export function enterAll(m: Machine, fn: Fn, args: Value[]): Value {
  const { code } = fn;
  if (args.length !== code.arity) return m.wrongCount(fn, args.length);
  const frame = frameAt(m, fn, code.size);
  for (let at = 0; at < args.length; at++) frame[at + 1] = args[at] as Value;
  return runBody(m, frame, code.body);
}

/**
 * The frame of the next depth. A call reuses the frame of the last call at its depth: nothing refers to that any
 * more, because closures copy the variables they capture.
 */
export function frameAt(m: Machine, fn: Fn, size: number): Frame {
  if (--m.fuel < 0) m.refuel();
  const depth = m.depth + 1;
  if (depth > m.depthMax) exceed(m, "DEPTH");
  m.depth = depth;
  const known = m.stack[depth];
  const frame = known !== undefined && known.length >= size ? known : newFrame(m, depth, size);
  frame[0] = fn;
  return frame;
}

/** Without holes, so that all frames have one shape for the host. */
function newFrame(m: Machine, depth: number, size: number): Frame {
  const frame: Frame = [NIL, NIL, NIL, NIL, NIL, NIL, NIL, NIL];
  while (frame.length < size) frame.push(NIL);
  m.stack[depth] = frame;
  return frame;
}

/** Repeats a body that called its own function last. */
export function runBody(m: Machine, frame: Frame, body: (frame: Frame) => Value): Value {
  const { depth } = m;
  let answer = body(frame);
  while ((answer as unknown) === true) {
    if (--m.fuel < 0) m.refuel();
    answer = body(frame);
  }
  m.depth = depth - 1;
  return answer;
}
