/**
 * Prints what the default reporter keeps to itself: why tests were skipped (each reason once, with how many), and
 * which tests passed only on their second try.
 */
import type { Reporter, TestModule } from 'vitest/node';

type Modules = readonly Pick<TestModule, 'children'>[];

export function skipReasons(modules: Modules): string[] {
  const counts = new Map<string, number>();
  for (const module of modules)
    for (const test of module.children.allTests('skipped')) {
      const result = test.result();
      if (result.state !== 'skipped' || result.note === undefined) continue;
      counts.set(result.note, (counts.get(result.note) ?? 0) + 1);
    }
  return [...counts].map(
    ([reason, count]) => `${count} ${count === 1 ? 'test' : 'tests'} skipped: ${reason}`,
  );
}

/** A system test is tried twice. One that needed it is a defect, and the run names it with its first error. */
function secondTries(modules: Modules): string[] {
  const lines: string[] = [];
  for (const module of modules)
    for (const test of module.children.allTests('passed')) {
      if (test.diagnostic()?.flaky !== true) continue;
      const error = test.result().errors?.[0]?.message.split('\n')[0] ?? 'no error is known';
      lines.push(
        `passed only on the second try: ${test.module.relativeModuleId}: ${test.fullName}: ${error}`,
      );
    }
  return lines;
}

export default class SkipReasons implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const line of [...skipReasons(modules), ...secondTries(modules)]) console.log(line);
  }
}
