import type { Reporter, TestCase, TestModule } from "vitest/node";

const linesMax = 12;

/** Prints at the end which tests passed or failed only after a retry, and why. */
export default class RetriesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const retried = modules.flatMap((module) =>
      [...module.children.allTests()]
        .filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
        .flatMap((test) => [`  ${module.relativeModuleId} > ${test.fullName}`, ...reasonsOf(test)]),
    );
    const count = retried.filter((line) => !line.startsWith("   ")).length;
    if (count > 0) console.log([`Retried tests: ${count}`, ...retried].join("\n"));
  }
}

function reasonsOf(test: TestCase): string[] {
  const [first] = test.result().errors ?? [];
  const lines = (first?.message ?? "").split("\n").slice(0, linesMax);
  return lines.map((line) => `     ${line}`);
}
