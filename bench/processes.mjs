import { fileURLToPath } from "node:url";
import { startClient } from "./line-client.mjs";
import { echoArguments } from "./servers/echo-tool.mjs";

export const pathOf = (file) => fileURLToPath(new URL(file, import.meta.url));

/** The programs that can be started: each gives the arguments of `node`. */
export const processes = {
  bare: [pathOf("servers/bare-echo.mjs")],
  hall: [pathOf("servers/hall-echo.mjs")],
  sdk: [pathOf("servers/sdk-echo.mjs")],
  cli: [pathOf("../dist/cli.js"), "mcp"],
};

export const start = (name, { args = [], cwd } = {}) =>
  startClient(process.execPath, [...processes[name], ...args], { cwd });

/** A call of the echo tool and how to know its answer. */
export function echoCall(number) {
  const args = echoArguments(number);
  return {
    method: "tools/call",
    params: { name: "echo", arguments: args },
    accept: ({ content, isError }) =>
      !isError && content.length === 1 && content[0].text === args.message,
  };
}

/** A, B, A, B and so on, each time with another one first. */
export async function inTurns(count, names, turn) {
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < names.length; j++) await turn(names[(i + j) % names.length]);
  }
}
