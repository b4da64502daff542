import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { guideProject, runProgram } from '../fixtures/guide-programs.ts';
import { test } from '../fixtures/user.ts';

/** Killed by its own tool, the first time; `child` gives the work to an agent in a process of its own. */
const PROGRAM = `
import { appendFileSync } from 'node:fs';
import { openSession, tool } from 'ramet';

const [, , how] = process.argv;
const pay = tool({
  name: 'pay',
  description: 'Pays.',
  inputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  run({ amount }) {
    appendFileSync('paid.txt', amount + ' ' + (process.argv[1] ?? '').endsWith('pay.ts') + '\\n');
    if (how !== 'again') process.kill(process.pid, 'SIGKILL');
    return 'paid ' + amount;
  },
});
await using session = await openSession({
  tools: [pay],
  permissions: { allow: ['pay'] },
  agents: { executor: 'process' },
  ...(how === 'again' && { resume: 'latest' }),
});
const { status, text } = await (how === 'again' ? last(session.run(null)) : session.ask('Pay.'));
console.log(status, text);

async function last(events) {
  for await (const event of events) if (event.type === 'result') return event;
}
`;

describe.concurrent('LOG-1: kill -9 in the middle of an own tool that acts', () => {
  test.for([
    ['of the main agent', false],
    ['of an agent in a process of its own', true],
  ] as const)(
    '%s: it is not called again, and the model is told that it may have acted',
    async ([, isChild], { user }) => {
      await user.emulate({
        respond: ({ turn, task, lastToolResult }) => {
          if (isChild && task === 'Pay.' && turn === 0) {
            const input = { description: 'pay', prompt: 'Pay 5.', subagent_type: 'general-purpose' };
            return { tool_use: [{ name: 'Agent', input }] };
          }
          return turn === 0
            ? { tool_use: [{ name: 'pay', input: { amount: 5 } }] }
            : { text: `Scope: pay. ${/may have|Unsure/.test(lastToolResult) ? 'Unsure.' : 'Paid.'}` };
        },
      });
      guideProject(user.repository, [{ name: 'pay.ts', source: PROGRAM, prints: null }]);
      const place = { cwd: user.repository, env: user.env };
      expect(await runProgram(['pay.ts'], place)).toMatchObject({ signal: 'SIGKILL', stdout: '' });
      const again = await runProgram(['pay.ts', 'again'], place);
      expect(again).toMatchObject({ code: 0, stderr: '' });
      expect(again.stdout).toBe('done Scope: pay. Unsure.\n');
      expect(readFileSync(join(user.repository, 'paid.txt'), 'utf8')).toBe('5 true\n');
    },
  );
});
