import { describe, expect, test } from 'vitest';
import { decideLaunch, type LaunchFacts } from './launch.ts';

const facts: LaunchFacts = {
  mode: 'auto',
  sharedTokens: 8_000,
  coldTokens: 8_000,
  minimum: 1_024,
  state: 'cold',
  prices: { write: 2.5, read: 0.2 },
  firstTokenMs: 300,
  stays: false,
};

type Case = [title: string, given: Partial<LaunchFacts>, choice: string, why: RegExp];

const cases: Case[] = [
  ['a cold prefix is led', {}, 'lead', /8000 of 8000 shared tokens are cold/],
  ['a prefix that another writes is waited for', { state: 'writing' }, 'follow', /being written/],
  ['a warm prefix is not waited for', { state: 'readable', coldTokens: 0 }, 'at_once', /^warm/],
  ['a silent writer is not waited for', { state: 'silent' }, 'at_once', /no sign of life/],
  ['in parallel nobody leads', { mode: 'parallel' }, 'at_once', /as asked/],
  ['in parallel nobody waits', { mode: 'parallel', state: 'writing' }, 'at_once', /as asked/],
  ['below the minimum nobody leads', { sharedTokens: 1_023, coldTokens: 1_023 }, 'at_once', /^below minimum/],
  [
    'below the minimum nobody waits, even staggered',
    { mode: 'staggered', state: 'writing', minimum: 8_001 },
    'at_once',
    /^below minimum/,
  ],
  ['a prefix shared with nobody is not led', { sharedTokens: 0, coldTokens: 0 }, 'at_once', /^below minimum/],
  ['a mostly warm prefix goes at once', { coldTokens: 3_999 }, 'at_once', /^mostly warm: only 3999/],
  ['also while another writes its tail', { coldTokens: 900, state: 'writing' }, 'at_once', /^mostly warm/],
  ['half warm and half cold is led', { coldTokens: 4_000 }, 'lead', /4000 of 8000/],
  [
    'a cold part below the minimum goes at once',
    { sharedTokens: 1_500, coldTokens: 1_000 },
    'at_once',
    /^mostly/,
  ],
  ['a member of a team leads for a short cold tail', { stays: true, coldTokens: 700 }, 'lead', /700 of 8000/],
  [
    'and follows for it',
    { stays: true, coldTokens: 700, state: 'writing' },
    'follow',
    /700 of 8000 .* written by another/,
  ],
  [
    'but not for a tail that saves nothing',
    { stays: true, coldTokens: 0, state: 'writing' },
    'at_once',
    /too little to save/,
  ],
  ['staggered, the shortest cold tail is led', { mode: 'staggered', coldTokens: 1 }, 'lead', /1 of 8000/],
  [
    'staggered, the shortest cold tail is waited for',
    { mode: 'staggered', coldTokens: 1, state: 'writing' },
    'follow',
    /1 of 8000/,
  ],
  ['staggered, a warm prefix goes at once', { mode: 'staggered', state: 'readable' }, 'at_once', /^warm/],
  [
    'what costs nothing is not waited for',
    { prices: { write: 0, read: 0 } },
    'at_once',
    /too little to save/,
  ],
  [
    'a long wait for next to nothing is not taken',
    { prices: { write: 0.02, read: 0 }, firstTokenMs: 5_000, state: 'writing' },
    'at_once',
    /\$0.000160 for a wait of 5.0 s/,
  ],
  ['the same saving is worth a short wait', { prices: { write: 0.02, read: 0 } }, 'lead', /cold/],
  ['unknown prices do not matter', { prices: null, state: 'writing' }, 'follow', /cold/],
  ['nor does an unknown latency', { firstTokenMs: null, state: 'writing' }, 'follow', /cold/],
];

describe('LAUNCH-1: when a child may start', () => {
  test.each(cases)('%s', (_title, given, choice, why) => {
    const decided = decideLaunch({ ...facts, ...given });
    expect(decided.choice).toBe(choice);
    expect(decided.why).toMatch(why);
  });
});
