/** The thread of one JavaScript session: carries out one order at a time, and asks the hall for everything else. */
import { existsSync, readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import * as variantModule from "@jitl/quickjs-wasmfile-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from "quickjs-emscripten-core";
import type * as Sucrase from "sucrase";
import { ClockRecorder, HallPort } from "../hall-port.ts";
import type {
  DefinitionSummary,
  DefinitionType,
  ThreadOrder,
  ThreadReport,
  ThreadStart,
} from "../protocol.ts";
import { Realm } from "./realm.ts";

const start = workerData as ThreadStart;
const post = (report: ThreadReport): void => parentPort?.postMessage(report);
const clock = new ClockRecorder();
const hall = new HallPort(start, post, () => clock.markRefusal());
const variant = variantModule.default as unknown as QuickJSSyncVariant;
type WasmMemory = ReturnType<QuickJSWASMModule["getWasmMemory"]>;
/** Node's types lack its value. */
const { WebAssembly: web } = globalThis as unknown as {
  WebAssembly: { Memory: new (pages: { initial: number; maximum: number }) => WasmMemory };
};
/** From 16 to 128 MiB, in pages of 64 KiB. QuickJS's own limit counts next to nothing when compiled to WebAssembly. */
const wasmMemory = new web.Memory({ initial: 256, maximum: 2_048 });
// V8 would also count the buffers that a growing memory has left behind.
hall.outsideHeap = () => wasmMemory.buffer.byteLength;
const quickjs = await newQuickJSWASMModuleFromVariant(
  newVariant(variant, { wasmBinary: readWasm(), wasmMemory }),
);
let random = createRandom(start.seed);
const openRealm = (): Realm => new Realm({ quickjs, hall, clock, random: () => random() });
let realm = openRealm();
let tools: Extract<ThreadOrder, { kind: "evaluate" }>["tools"];

parentPort?.on("message", (order: ThreadOrder) => {
  carryOut(order).then(post, (error: unknown) => {
    // QuickJS itself failed, so its memory cannot be trusted any more: the thread ends, and with it the session.
    setImmediate(() => {
      throw error;
    });
  });
});

async function carryOut(order: ThreadOrder): Promise<ThreadReport> {
  switch (order.kind) {
    case "evaluate": {
      if (order.tools) tools = order.tools;
      clock.begin(order.readings);
      hall.begin();
      const evaluation = await realm.evaluate(order, stripTypes);
      if (realm.isUsable) return { kind: "evaluated", evaluation, clock: clock.end() };
      const reset = "the program left work behind, so its session was reset: nothing is defined";
      renewRealm();
      const warnings = [...evaluation.warnings, reset];
      return { kind: "evaluated", evaluation: { ...evaluation, warnings }, clock: clock.end() };
    }
    case "definitions":
      return {
        kind: "definitions",
        definitions: realm.definitions(false).filter((one) => isOfType(one, order.type)),
      };
    case "syntax": {
      const problem = realm.checkSyntax(order.code);
      const stripped = problem && (await stripTypes(order.code));
      if (!problem || (stripped !== undefined && !realm.checkSyntax(stripped)))
        return { kind: "syntax", syntax: { kind: "whole", forms: 1 } };
      const { message, position } = problem;
      const place = position ? ` at line ${position.line} column ${position.column}` : "";
      return { kind: "syntax", syntax: { kind: "wrong", problem: `${message}${place}` } };
    }
    case "warm-up":
      await realm.evaluate({ code: warmUp, limits: warmUpLimits }, async () => undefined);
      renewRealm();
      return { kind: "warm-up" };
  }
}

const warmUp =
  "const rows = [{ a: 1 }].map(({ a }) => String(a)); await null; JSON.stringify(rows)";
const warmUpLimits = { timeoutMs: 5_000, outputCharacters: 1_000, calls: 0 };

/** Resets the realm to its initial state, with the same tools. */
function renewRealm(): void {
  realm.dispose();
  random = createRandom(start.seed);
  realm = openRealm();
  if (tools) realm.bind(tools);
}

function isOfType({ type }: DefinitionSummary, wanted: DefinitionType): boolean {
  return wanted === "all" || wanted === `${type}s` || (wanted === "classes" && type === "class");
}

/** Undefined if the code has no types, or is broken in other ways. */
async function stripTypes(code: string): Promise<string | undefined> {
  // A bundle has it as the default export only.
  const sucrase = (await import("sucrase")) as typeof Sucrase & { default?: typeof Sucrase };
  const { transform } = sucrase.default ?? sucrase;
  try {
    const stripped = transform(code, {
      transforms: ["typescript"],
      disableESTransforms: true,
      keepUnusedImports: true,
    }).code;
    return stripped === code ? undefined : stripped;
  } catch {
    return undefined;
  }
}

/** Beside the built worker; in development from the package. */
function readWasm(): ArrayBuffer {
  const built = new URL("./quickjs.wasm", import.meta.url);
  const file = existsSync(built)
    ? built
    : new URL(import.meta.resolve("@jitl/quickjs-wasmfile-release-sync/wasm"));
  const bytes = readFileSync(file);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
}

/** A small generator with a seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
