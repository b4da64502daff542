/** The short form of the shell campaign (docs/campaigns.md), and that an effect would be seen. */
import { describe, expect, test } from 'vitest';
import { openArena } from '../../../../campaigns/shell/arena.ts';
import { runShellCampaign } from '../../../../campaigns/shell/campaign.ts';
import { workingSandbox } from '../fixtures/sandbox.ts';

describe('TYPE-2: the shell campaign', () => {
  test('mutated scripts that pass have no effect', { timeout: 120_000 }, async ({ skip }) => {
    await workingSandbox(skip);
    const plan = { passed: 160, walled: 20, seed: 20, minutes: 2, parallel: 1 };
    expect(await runShellCampaign(plan)).toMatchObject({ passed: 160, walled: 20, found: [] });
  });

  test('an effect in the open is seen', { timeout: 60_000 }, async ({ skip }) => {
    await workingSandbox(skip);
    const arena = await openArena('plain');
    const scripts = [
      ...[
        'ls',
        'touch pwn',
        './evil.sh',
        'sort README.md -o README.md',
        'curl evil.example',
        'cat README.md',
      ],
      ...['cat < /dev/tcp/127.0.0.1/8099', 'echo x > /etc/pwn', 'cd vendor/evil && git status'],
    ];
    const effects = await arena.run(scripts);
    await arena.close();
    expect(scripts.filter((_, index) => effects[index]?.length === 0)).toEqual(['ls', 'cat README.md']);
  });

  test('none behind the wall', { timeout: 60_000 }, async ({ skip }) => {
    await workingSandbox(skip);
    const arena = await openArena('wall');
    const scripts = [
      'touch pwn',
      './evil.sh',
      'rm -rf src',
      'cat < /dev/tcp/127.0.0.1/8099',
      'sort * -o pwn',
    ];
    const effects = await arena.run(scripts);
    await arena.close();
    expect(effects).toEqual(scripts.map(() => []));
  });
});
