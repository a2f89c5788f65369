// The part of the registry scenario that measures code the library does not export. Bundled before it runs.

import { breakCircuits } from "../../src/gateway/breaker.ts";
import { compileStages } from "../../src/gateway/gateway.ts";
import { limitConcurrency, limitRates } from "../../src/gateway/limits.ts";
import { retryIdempotent } from "../../src/gateway/retry.ts";
import { createValidators } from "../../src/gateway/validate.ts";
import { createHealthBook } from "../../src/registry/health.ts";
import { createEchoToolkit, echoArguments, echoTool } from "./echo-tool.mjs";

const limits = {
  client: { perSecond: 1e9, burst: 1e9 },
  registered: { perSecond: 1e9, burst: 1e9, concurrent: 16, queue: 100 },
};
const health = createHealthBook();
const outcome = { content: [] };
const answer = () => Promise.resolve(outcome);
const stages = {
  bare: answer,
  limited: compileStages(
    [
      limitRates(limits),
      breakCircuits({ health, registry: undefined }),
      limitConcurrency(limits),
      retryIdempotent(),
    ],
    answer,
  ),
};
const toolkit = { ...createEchoToolkit(), source: "registered" };
const call = {
  id: "bench",
  name: "echo",
  arguments: {},
  caller: {
    connection: "bench",
    client: "bench 1.0",
    principal: "token",
    quota: "token@127.0.0.1",
  },
  target: { toolkit, tool: echoTool, fullName: "echo.echo" },
};

/** Microseconds a call takes, with the stages and without: the difference is what they cost. */
export async function measureStages(rounds, count) {
  const us = { bare: [], limited: [] };
  for (let round = 0; round < rounds + 2; round++) {
    for (const [name, run] of Object.entries(stages)) {
      const began = performance.now();
      for (let i = 0; i < count; i++) await run(call, {});
      if (round >= 2) us[name].push(((performance.now() - began) / count) * 1_000);
    }
  }
  return us;
}

/** Milliseconds of single checks of arguments, after warm-up. */
export async function measureValidation(count) {
  const validate = await createValidators({ warn: () => {} }).load(echoTool.inputSchema);
  const times = [];
  for (let i = 0; i < count + 1_000; i++) {
    const args = echoArguments(i);
    const began = performance.now();
    const errors = validate(args);
    if (i >= 1_000) times.push(performance.now() - began);
    if (errors.length > 0) throw new Error("the arguments do not fit");
  }
  return times;
}
