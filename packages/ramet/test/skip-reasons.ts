/** Prints why tests were skipped, each reason once with how many: the default reporter keeps it to itself. */
import type { Reporter, TestModule } from 'vitest/node';

export function skipReasons(modules: readonly Pick<TestModule, 'children'>[]): string[] {
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

export default class SkipReasons implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const line of skipReasons(modules)) console.log(line);
  }
}
