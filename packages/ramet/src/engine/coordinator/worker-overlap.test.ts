import { describe, expect, test } from 'vitest';
import { continueAdvice, type KnowingWorker, spawnAdvice } from './worker-overlap.ts';

function worker(name: string, read: string[], changed: string[] = [], readOnly = false): KnowingWorker {
  return { id: `s.${name}`, name, readOnly, read: new Set(read), changed: new Set(changed) };
}

const ada = worker('ada', ['/w/repo/src/a.ts', '/w/repo/src/b.ts'], ['/other/worktree/src/c.ts']);

describe('COORD-2: continue or spawn, by the files that a worker knows', () => {
  test('who knows most of the named files is named, with what it knows of them', () => {
    const bob = worker('bob', ['/w/repo/src/a.ts']);
    expect(spawnAdvice(['src/a.ts', './src/b.ts', 'c.ts'], [bob, ada], 'implementation')).toBe(
      'Worker ada (s.ada) has read src/a.ts, ./src/b.ts and has changed c.ts, which you name here. To use what it knows, stop this one with TaskStop and send the task to ada with SendMessage.',
    );
  });

  test('a fresh worker is right where nobody knows most of them', () => {
    expect(spawnAdvice(['x.ts', 'y.ts', 'src/a.ts'], [ada], 'implementation')).toMatch(/^A fresh worker/);
    // Part of a name is another name.
    expect(spawnAdvice(['rc/a.ts'], [ada], 'implementation')).toMatch(/^A fresh worker/);
  });

  test('one that only reads is not continued to write, and nobody to verify', () => {
    const eve = worker('eve', ['/w/repo/src/a.ts'], [], true);
    expect(spawnAdvice(['src/a.ts'], [eve], 'research')).toContain('eve');
    expect(spawnAdvice(['src/a.ts'], [eve], 'implementation')).toMatch(/^A fresh worker/);
    expect(spawnAdvice(['src/a.ts'], [ada], 'verification')).toBeNull();
  });

  test('nothing is said where nothing is known', () => {
    expect(spawnAdvice([], [ada], 'implementation')).toBeNull();
    expect(spawnAdvice(['src/a.ts'], [], 'implementation')).toBeNull();
    expect(continueAdvice(['src/a.ts', 'x.ts'], ada)).toBeNull();
    expect(continueAdvice(['x.ts'], ada)).toContain('has read none of the files');
  });
});
