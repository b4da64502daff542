/** A coordinator that is killed at each of its requests: whatever is cut off, phases, workers and files come out the same. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import type { RequestView } from '../../src/emulator/request-view.ts';
import { COORDINATOR_PHASES } from '../../src/schema/status.ts';
import { linesOf } from '../fixtures/command.ts';
import { sampleOf } from '../fixtures/kill-sample.ts';
import { test, type User } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
/** More than the requests of a whole run. */
const STEPS = Array.from({ length: 16 }, (_, index) => index + 1);

const call = (name: string, input: Record<string, unknown>): Answer => ({ tool_use: [{ name, input }] });
const phase = (to: string): Answer => call('Phase', { to, note: 'README.md: write `bob`' });

/** Decides by what it reads, as a model does: a kill may have cut off anything. */
function lead(text: string): Answer {
  const now = [...text.matchAll(/The phase is (\w+)/g)].at(-1)?.[1] ?? 'research';
  const worker = { research: 'ada', implementation: 'bob', verification: 'eve' }[now];
  if (worker === undefined) return phase('implementation');
  if (text.includes(`Report of ${worker}.`))
    return now === 'research'
      ? phase('synthesis')
      : now === 'implementation'
        ? phase('verification')
        : { text: 'Proved.' };
  const isStarted = new RegExp(`\\\\"${worker}\\\\" runs in the background|${worker} \\([^)]*\\): `).test(
    text,
  );
  if (isStarted) return { text: `I wait for ${worker}.` };
  const prompt = `You are ${worker}. Look at README.md and \`main\`.`;
  return call('Agent', { name: worker, description: worker, prompt });
}

function respond({ request }: RequestView): Answer {
  const text = JSON.stringify(request.messages);
  const name = /You are (\w+)\. /.exec(JSON.stringify(request.messages[0]))?.[1];
  if (name === undefined) return lead(text);
  return text.includes('tool_result')
    ? { text: `Report of ${name}.` }
    : call('Write', { file_path: `${name}.txt`, content: name });
}

function withoutSandbox(user: User): void {
  mkdirSync(user.rametHome, { recursive: true });
  const settings = { sandbox: { readOnly: 'off', worktree: 'off' } };
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
}

describe.concurrent('COORD-1: a coordinator killed at any of its requests', () => {
  for (const step of sampleOf(STEPS, [2, 5, 7, 10, 13]))
    test(`request ${step}`, async ({ user }) => {
      withoutSandbox(user);
      let count = 0;
      let running: ReturnType<User['start']> | null = null;
      await user.emulate({
        respond: (view) => {
          count += 1;
          if (count === step) running?.kill('SIGKILL');
          return respond(view);
        },
      });
      running = user.start(['-p', 'Go.', '--coordinator', ...BYPASS]);
      await running.ended;
      const wasKilled = count >= step;
      if (wasKilled) expect(await user.ramet(['resume'])).toMatchObject({ code: 0, stdout: 'Proved.\n' });
      const { stdout } = await user.ramet(['logs', '--json']);
      const events = linesOf(stdout).map((line) => JSON.parse(line));
      const changes = events.filter(({ type }) => type === 'phase.changed').map(({ to }) => to);
      expect(changes).toEqual([...COORDINATOR_PHASES]);
      const started = events.filter(({ type, parent }) => type === 'agent.started' && parent !== null);
      expect(started.map(({ name }) => name)).toEqual(['ada', 'bob', 'eve']);
      const written = ['ada', 'bob', 'eve'].filter((name) =>
        existsSync(join(user.repository, `${name}.txt`)),
      );
      expect(written).toEqual(['bob']);
    });
});
