import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: process.env.GUILDHALL_LONG ? ["test/**/*.long.ts"] : ["test/**/*.test.ts"],
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
