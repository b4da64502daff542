/** The checks of the fault campaign find what is doubled, what is lost and what is badly said. */
import { describe, expect, test } from 'vitest';
import {
  type FaultExpectation,
  outcomeProblems,
  sayingProblems,
} from '../../../../campaigns/faults/fault-checks.ts';
import type { Undisturbed } from '../../../../campaigns/kill/checks.ts';
import type { Evidence } from '../../../../campaigns/kill/evidence.ts';
import { planOf } from '../../../../campaigns/kill/plan.ts';
import { chanceOf } from '../../../../campaigns/kill/random.ts';
import type { RunEnd } from '../../../../campaigns/kill/world.ts';

const REPORT = 'Scope: root. [effects: root-one root-two]';
const LOG = 'effects/root.log';
const TOLD =
  'ramet: the end of the journal /h/s.sqlite is missing: 3 events up to 2026-01-01 00:00:00 (its WAL was cut or removed, or this is an older copy); what agents did after 2026-01-01 00:00:00 may be done again: check before you rely on it';
const DISK: FaultExpectation = { says: /disk is full/ };
const LOSING: FaultExpectation = { says: /^ramet: ./, losesEnd: true };
const undisturbed: Undisturbed = {
  reports: new Map([['root', REPORT]]),
  files: { [LOG]: 'root-one\nroot-two\n' },
};

function ended(code: number, stderr = '', signal: RunEnd['signal'] = null): RunEnd {
  return { code, signal, stdout: `${REPORT}\n`, stderr, hung: false, ms: 1 };
}

function left(...effects: string[]): Evidence {
  const root = { id: 's.1', parent: null, task: 'root', events: [], told: [], lastText: REPORT, ended: null };
  return {
    plan: planOf('alone', chanceOf(1)),
    end: ended(0),
    alreadyEnded: false,
    sessions: ['s'],
    recorded: { session: 's', events: [], agents: new Map([['s.1', root]]) },
    asked: [],
    unmatched: [],
    files: { [LOG]: effects.map((line) => `${line}\n`).join('') },
    effects,
    processes: [],
    temporary: [],
    shown: [{ id: 's.1', status: 'done', cause: null }],
    billed: 0,
    viewFailures: [],
  };
}

const found = (evidence: Evidence, expected: FaultExpectation, said = ''): string[] =>
  outcomeProblems(evidence, undisturbed, expected, said);

describe('what a round of the fault campaign leaves', () => {
  test('is right when every effect is there once', () => {
    expect(found(left('root-one', 'root-two'), DISK)).toEqual([]);
    expect(found(left('root-one', 'root-two'), LOSING, TOLD)).toEqual([]);
  });

  test('is wrong with an effect that is there twice, unless the witness told of it', () => {
    const doubled = left('root-one', 'root-two', 'root-two');
    expect(found(doubled, DISK)).toContain('no effect is there twice: root-two is there 2 times');
    expect(found(doubled, DISK, TOLD)).not.toEqual([]);
    expect(found(doubled, LOSING)).not.toEqual([]);
    for (const vague of ['ramet: it may be repeated', 'ramet: the file is missing', 'ramet: it is lost'])
      expect(found(doubled, LOSING, vague)).not.toEqual([]);
    expect(found(doubled, LOSING, `ramet: first\n${TOLD}\n`)).toEqual([]);
  });

  test('is wrong with an effect that is lost, whatever was told', () => {
    const lost = left('root-one');
    expect(found(lost, DISK)).not.toEqual([]);
    expect(found(lost, LOSING, TOLD)).toEqual([`lost from ${LOG}: root-two`]);
    expect(found(left('root-one', 'root-one'), LOSING, TOLD)).toEqual([`lost from ${LOG}: root-two`]);
  });

  test('is wrong with an effect that nobody asked for, whatever was told', () => {
    const strange = left('root-one', 'root-two', 'other');
    expect(found(strange, LOSING, TOLD)).toEqual([`strange in ${LOG}: other`]);
  });
});

describe('what the runs of a round say', () => {
  const full = 'ramet: cannot write the journal /h/s.sqlite: the disk is full; free some space';

  test('is right when one line names the fault, and the next run says nothing', () => {
    expect(sayingProblems([ended(1, `${full}\n`), ended(0)], DISK)).toEqual([]);
    expect(sayingProblems([ended(0)], DISK)).toEqual([]);
  });

  test('is wrong with no line, another line, two lines or a raw error', () => {
    for (const said of ['', 'ramet: no', `${full}\n${full}\n`, `${full}\nTypeError: x`, `note\n${full}`])
      expect(sayingProblems([ended(1, said), ended(0)], DISK), said).toHaveLength(1);
  });

  test('is wrong with a resumption that fails, or says what is no note', () => {
    expect(sayingProblems([ended(1, full), ended(1, full), ended(0)], DISK)).toHaveLength(1);
    expect(sayingProblems([ended(1, full), ended(0, 'the witness, a warning, lost\n')], DISK)).toHaveLength(
      1,
    );
    expect(sayingProblems([ended(1, full), ended(0, `${TOLD}\n`)], DISK)).toHaveLength(1);
    expect(sayingProblems([ended(1, full, 'SIGKILL'), ended(0, `${TOLD}\n`)], LOSING)).toHaveLength(1);
    expect(sayingProblems([ended(1, '', 'SIGKILL'), ended(0, `${TOLD}\n`)], LOSING)).toEqual([]);
  });
});
