import type { Toolkit } from "../../src/tool.ts";
import { createEchoToolkit, createSlowToolkit, createToolkit, text } from "./toolkits.ts";

/** Stands in for the built-in toolkits when the real command line is tested in a process of its own. */
export function createBuiltinToolkits(): readonly Toolkit[] {
  return [createEchoToolkit(), createSlowToolkit(), noisy];
}

const noisy = createToolkit("noisy", {
  shout: {
    run() {
      console.log("on stdout?");
      console.info("on stdout?");
      console.error("on stderr");
      return text("shouted");
    },
  },
  crash: {
    run() {
      setTimeout(() => {
        throw new Error("nobody caught this");
      }, 1);
      void Promise.reject(new Error("nobody caught this either"));
      return text("crashing");
    },
  },
  large: { run: ({ bytes }) => text("x".repeat(Number(bytes))) },
});
