/** A short memory campaign, and its checks shown to fail: each defect is planted into the evidence of a sound round. */
import { describe, expect, test } from 'vitest';
import { memoryCampaignReport, runMemoryCampaign } from '../../../../campaigns/memory/campaign.ts';
import { CHECKS, hasSecret, type MemoryEvidence, problemsOf } from '../../../../campaigns/memory/checks.ts';
import { factOf, KNOWN_FACT, SECRET, wishOf } from '../../../../campaigns/memory/remembering-model.ts';
import type { MemoryChange } from '../../src/memory/files/memory-history.ts';

describe('MEM-1, MEM-2, BG-3: a short memory campaign', () => {
  test('loses and doubles no line, and takes every change back', { timeout: 240_000 }, async () => {
    const seed = Math.floor(Math.random() * 1_000_000);
    const result = await runMemoryCampaign({ kills: 3, seed, parallel: 1, minutes: 3, mostSteps: 5 });
    const problems = result.rounds.flatMap((round) => round.problems);
    expect(problems, memoryCampaignReport(result)).toEqual([]);
  });
});

const LINE = 'Line 1-0 is of a person.';
const NOTE = 'Note 1 is of a command.';
const TEXT = `## build\n- ${KNOWN_FACT}\n- ${factOf(1)}\n- ${LINE}\n- ${NOTE}\n`;

function change(id: number, before: string | null, after: string): MemoryChange {
  return {
    ...{ id, at: id, kind: 'extraction' as const, session: null, agent: null, turn: null, undoes: null },
    files: [{ path: 'MEMORY.md', before, after }],
  };
}

function soundEvidence(): MemoryEvidence {
  return {
    ...{ failures: [], steps: 1, lines: [LINE], notes: [NOTE], unsure: [], leaks: [], processes: [] },
    files: new Map([['MEMORY.md', TEXT]]),
    changes: [change(1, null, 'a'), change(2, 'a', TEXT)],
    undone: new Map([['MEMORY.md', `- ${LINE}\n`]]),
  };
}

/** Only what a defect changes; the name is that of the check that finds it. */
const DEFECTS: Readonly<Record<keyof typeof CHECKS, Partial<MemoryEvidence>>> = {
  'what is not killed ends well': { failures: ['prompt 1, code 1'] },
  'every line of the person is there, once': {
    unsure: [KNOWN_FACT],
    lines: [LINE, 'Line 1-1 is of a person.'],
  },
  'no fact is there twice': {
    files: new Map([
      ['MEMORY.md', TEXT],
      ['build.md', KNOWN_FACT],
    ]),
  },
  'the undisturbed run has left its facts': { steps: 2 },
  'nothing passes for the word of a person, who has typed nothing': {
    files: new Map([
      ['MEMORY.md', TEXT],
      ['notes.md', wishOf(1)],
    ]),
  },
  'each change begins where the one before ended': { changes: [change(1, null, 'a'), change(2, 'b', TEXT)] },
  'the files are as the record has them': { changes: [change(1, null, 'a')] },
  'no other file is left': {
    files: new Map([
      ['MEMORY.md', TEXT],
      ['.MEMORY.md.tmp', ''],
    ]),
  },
  'after undo the lines of the person stand alone': { undone: new Map([['MEMORY.md', TEXT]]) },
  'no secret is kept': { leaks: ['history.sqlite'] },
  'nothing is left running': { processes: ['12 ramet'] },
};

describe('the checks of the memory campaign', () => {
  test('find nothing in a sound round, and a secret where it is', () => {
    expect(problemsOf(soundEvidence())).toEqual([]);
    expect(hasSecret(Buffer.from(`token ${SECRET}`))).toBe(true);
    expect(hasSecret(Buffer.from(TEXT))).toBe(false);
  });

  test.each(Object.keys(CHECKS))('%s: fails on a planted defect', (name) => {
    const found = problemsOf({ ...soundEvidence(), ...DEFECTS[name] });
    expect(found.filter((problem) => problem.startsWith(`${name}: `))).not.toEqual([]);
  });
});
