/** What an agent knows, counts and says about itself is its own, wherever it runs; the root's stays as it is. */
import { describe, expect, test } from 'vitest';
import { REFUSED_OFTEN } from '../../src/engine/agent/notices.ts';
import { call, eventsOf, lastTexts, startAgents } from '../fixtures/family.ts';
import { EXECUTORS_UNDER_TEST, startHosted } from './executor-scenes.ts';

const FRESH = { subagent_type: 'general-purpose' };
const REPORT = { text: 'Scope: child. Done.' };

describe.each(EXECUTORS_UNDER_TEST)('the state of an agent hosted %s', (executor) => {
  test('FORK-4: counts refusals from where its parent was, and its own forks do from where it is', async () => {
    const rm = call('Bash', { command: 'rm x' });
    const family = await startHosted(executor, {
      permissions: { deny: ['Bash(rm:*)'] },
      cast: {
        'Go.': [rm, startAgents(['fork']), startAgents(['child'], FRESH), rm, { text: 'ok' }],
        fork: [rm, rm, rm, REPORT],
        child: [rm, rm, startAgents(['inner']), rm, REPORT],
        inner: [rm, REPORT],
      },
    });
    await family.run('Go.');
    const told = (task: string) =>
      family.requestsOf(task).map((record) => lastTexts(record).join().includes(REFUSED_OFTEN));
    expect(told('fork')).toEqual([false, false, true, false]);
    expect(told('child')).toEqual([false, false, false, false, true]);
    expect(told('inner')).toEqual([false, true]);
    expect(told('Go.')).not.toContain(true);
  });

  test('RES-4: tells its progress, in its row at once and on record', async () => {
    const glob = (text: string) => ({ ...call('Glob', { pattern: '*' }), text });
    const todos = [{ content: 'Mend it', status: 'in_progress' }];
    const family = await startHosted(executor, {
      cast: {
        'Go.': [startAgents(['child'], FRESH), { text: 'ok' }],
        child: [glob('Reading.\nAll of it.'), call('TodoWrite', { todos }), glob('Mend it'), REPORT],
      },
    });
    const { events } = await family.run('Go.');
    const lines = ['Reading.', 'Mend it'];
    expect(events.flatMap((event) => (event.type === 'progress' ? [event.line] : []))).toEqual(lines);
    expect(eventsOf(family.recordedOf(2), 'progress.reported').map(({ line }) => line)).toEqual(lines);
  });

  test('RES-4: reads the root as it is at that moment, and what it does leaves the root as it was', async () => {
    const todo = (content: string) =>
      call('TodoWrite', { todos: [{ content, status: 'in_progress', activeForm: '' }] });
    const look = call('TaskOutput', { task_id: 'main' });
    const where = call('Bash', { command: 'pwd; echo "MINE=[$MINE]"' });
    const family = await startHosted(executor, {
      permissions: { deny: ['Bash(rm:*)'] },
      cast: {
        'Go.': [
          todo('The first'),
          where,
          startAgents(['child'], { ...FRESH, run_in_background: true, effort: 'low' }),
          call('Bash', { command: 'while [ ! -e first ]; do sleep 0.02; done' }),
          todo('The second'),
          call('Bash', { command: 'touch go' }),
          { text: 'I wait.' },
          where,
          { text: 'ok' },
        ],
        child: [
          look,
          call('Bash', { command: 'touch first; while [ ! -e go ]; do sleep 0.02; done' }),
          look,
          todo('My own'),
          call('Bash', { command: 'mkdir -p sub; cd sub; export MINE=1; pwd' }),
          call('EnterWorktree', { name: 'mine' }),
          look,
          REPORT,
        ],
      },
    });
    const { result } = await family.run('Go.');
    expect(result.status).toBe('done');
    const seen = family
      .requestsOf('child')
      .map((record) => lastTexts(record)[0] ?? '')
      .filter((text) => text.startsWith('Main agent'));
    const [first = '', second = '', third] = seen;
    expect(first).toContain(`works in ${family.cwd}, model ${family.session.model}, permission mode bypass`);
    expect(first).toContain('Budget left: no limit.\nRules, deny: Bash(rm:*).');
    expect(first).toContain('[in_progress] The first');
    expect(second).toBe(first.replace('The first', 'The second'));
    expect(third).toBe(second);
    const places = family
      .requestsOf('Go.')
      .flatMap(lastTexts)
      .filter((text) => text.includes('MINE='));
    expect(places).toEqual(
      [`${family.cwd}\nMINE=[]\n`, `${family.cwd}\nMINE=[]\n`].map((text) =>
        expect.stringContaining(text.trim()),
      ),
    );
    const root = family.recordedOf(1);
    expect(eventsOf(root, 'todos.changed').map(({ todos }) => todos[0]?.content)).toEqual([
      'The first',
      'The second',
    ]);
    expect(eventsOf(root, 'directory.changed')).toEqual([]);
    expect(eventsOf(root, 'permission.changed')).toEqual([]);
    expect(eventsOf(root, 'prefix.frozen')).toHaveLength(1);
  });

  test('RES-4: a child’s question changes the rules of the root only where a person answers so', async () => {
    const look = call('TaskOutput', { task_id: 'main' });
    const touch = (name: string) => call('Bash', { command: `touch ${name}` });
    const family = await startHosted(executor, {
      permissionMode: 'default',
      broker: {
        ask: async ({ summary, suggestedRules }) =>
          summary.includes('once') ? { kind: 'once' } : { kind: 'always', rules: suggestedRules },
      },
      cast: {
        'Go.': [startAgents(['child'], FRESH), { text: 'ok' }],
        child: [touch('once'), look, touch('always'), look, REPORT],
      },
    });
    await family.run('Go.');
    const [first, second] = family.requestsOf('child').flatMap((record) => {
      const [text = ''] = lastTexts(record);
      return text.startsWith('Main agent') ? [text] : [];
    });
    expect(first).not.toContain('Rules, allow');
    expect(second).toContain('Rules, allow: Bash(touch');
  });
});
