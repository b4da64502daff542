import { describe, expect, test } from 'vitest';
import { exchangeMail } from '../fixtures/team-mail.ts';
import { temporaryDirectory } from '../fixtures/temporary.ts';

describe('TEAM-2: messages among processes that are killed', () => {
  test('arrive in the order of each pair, none lost, none twice', async () => {
    const order = { project: temporaryDirectory(), members: 12, each: 150, processes: 4, killEveryMs: 400 };
    const outcome = await exchangeMail(order);
    expect(outcome).toMatchObject({ letters: 1_800, lost: 0, doubled: 0, outOfOrder: 0 });
    expect(outcome.kills).toBeGreaterThan(0);
  });
});
