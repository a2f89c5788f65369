import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: process.env.GUILDHALL_LONG ? ["test/**/*.long.ts"] : ["test/**/*.test.ts"],
    maxWorkers: 2,
    // Many tests run real processes against real clocks; one that a busy machine disturbed is taken again, and shown as such.
    retry: 1,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
