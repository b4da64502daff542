import { describe, expect, test } from 'vitest';
import type { TeamReport } from '../../../sdk/calls/teams.ts';
import { lookOf } from '../screen/terminal-abilities.ts';
import { textStyle } from '../screen/text-style.ts';
import { stepBlocks } from './step-blocks.ts';
import { TeamInput } from './team-input.ts';

function following() {
  const sent: { to: string; text: string }[] = [];
  const [printed, left]: [string[], number[]] = [[], []];
  const team: TeamReport = {
    ...{ name: 'crew', session: 'abcdefgh', host: 1, isRun: false, tasks: [], plans: [] },
    members: [
      {
        name: 'ada',
        agent: null,
        type: 'teammate',
        state: 'idle',
        cause: null,
        plan: null,
        unread: 0,
        branch: null,
      },
    ],
  };
  const send = (message: { to: string; text: string }): string[] => {
    sent.push(message);
    return [message.to];
  };
  const input = new TeamInput(
    { look: () => team, send },
    (code) => left.push(code),
    (line) => printed.push(line),
  );
  const write = (text: string): void => {
    input.press({ type: 'text', text });
    input.press({ type: 'press', name: 'enter' });
  };
  return { sent, printed, left, write };
}

describe('TEAM-2: what a person writes while following a team', () => {
  test('/quit leaves, a command of a conversation is not sent, and a path is', () => {
    const { sent, printed, left, write } = following();
    write('/compact now');
    expect(printed).toEqual([expect.stringMatching(/^\/compact is a command of the lead's own terminal/)]);
    write('/etc/hosts is wrong');
    write('@ada /quit is a command');
    expect(sent).toEqual([
      { to: 'lead', text: '/etc/hosts is wrong' },
      { to: 'ada', text: '/quit is a command' },
    ]);
    expect(left).toEqual([]);
    write('/quit');
    expect(left).toEqual([0]);
    expect(sent).toHaveLength(2);
  });

  test('what others had to say is shown as it is, and not as something pasted', () => {
    const text = Array.from({ length: 11 }, (_, index) => `line ${index} ${'x'.repeat(60)}`).join('\n');
    const about = { columns: 80, style: textStyle(false), look: lookOf({}) };
    const blocks = stepBlocks({ kind: 'told', text, isPrompt: false }, about);
    const shown = JSON.stringify(blocks.flatMap((block) => block.rows(80)));
    expect(shown).toContain('line 10');
    expect(shown).not.toContain('pasted');
  });
});
