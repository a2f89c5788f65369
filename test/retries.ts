import type { Reporter, TestModule } from "vitest/node";

/** Prints at the end which tests passed or failed only after a retry. */
export default class RetriesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const retried = modules.flatMap((module) =>
      [...module.children.allTests()]
        .filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
        .map((test) => `  ${module.relativeModuleId} > ${test.fullName}`),
    );
    if (retried.length > 0)
      console.log([`Retried tests: ${retried.length}`, ...retried].join("\n"));
  }
}
