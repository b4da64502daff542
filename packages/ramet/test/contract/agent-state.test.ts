/** An agent's state is the fold of its events: after every event, wherever it runs, and after a resume. */
import { expect, test } from 'vitest';
import { SUMMARISE } from '../../src/engine/compaction/compaction-summary.ts';
import { recordedAgents } from '../../src/journal/projections/recorded-agents.ts';
import { call, startAgents } from '../fixtures/family.ts';
import { watchStates, withoutTimes } from '../fixtures/watched-states.ts';
import { EXECUTORS_UNDER_TEST, startHosted } from './executor-scenes.ts';

const REPORT = { text: 'Scope: child. Done.' };
const RM = call('Bash', { command: 'rm x' });
const READ = call('Read', { file_path: 'README.md' });
const TODOS = call('TodoWrite', { todos: [{ content: 'Mend it', status: 'in_progress', activeForm: '' }] });
const WRITE = call('Write', { file_path: 'new.txt', content: 'text' });
const TASK = call('Bash', { command: 'exit 3', run_in_background: true });
const FRESH = { subagent_type: 'general-purpose' };

const CAST = {
  'Go.': [
    READ,
    TODOS,
    RM,
    TASK,
    startAgents(['fork', 'fork two']),
    startAgents(['child'], { ...FRESH, run_in_background: true }),
    call('TaskOutput', { task_id: 'all', block: true, timeout: 60_000 }),
    { text: 'All in.' },
  ],
  fork: [READ, RM, { ...WRITE, text: 'Writing.' }, REPORT],
  'fork two': [call('Bash', { command: 'true' }), REPORT],
  child: [READ, TODOS, RM, RM, RM, call('Write', { file_path: 'other.txt', content: 'x' }), REPORT],
  'Again.': [
    startAgents(['late'], { ...FRESH, run_in_background: true }),
    { text: 'Waiting.' },
    { text: 'Heard.' },
  ],
  late: [READ, REPORT],
  'Once more.': [startAgents(['last']), { text: 'The end.' }],
  last: [READ, REPORT],
  [SUMMARISE.slice(0, 40)]: () => ({ text: 'SUMMARY' }),
};

test.each(EXECUTORS_UNDER_TEST)('LOG-1: live, %s, it equals the fold of the journal', async (executor) => {
  const { folded, seen, failures } = watchStates();
  const family = await startHosted(executor, {
    permissions: { deny: ['Bash(rm:*)'] },
    cast: CAST,
    files: { 'README.md': 'A long line of text, again and again.\n'.repeat(800) },
  });
  expect((await family.run('Go.')).result).toMatchObject({ status: 'done', text: 'All in.' });
  expect((await family.run('Again.')).result).toMatchObject({ status: 'done', text: 'Heard.' });
  const outcome = await family.session.compact();
  expect(outcome).toMatchObject({ compacted: true, summary: 'SUMMARY' });
  expect(failures).toEqual([]);
  // From here on what was folded by another process goes on.
  const again = await family.reopen();
  expect((await again.run('Once more.')).result).toMatchObject({ status: 'done', text: 'The end.' });
  expect(failures).toEqual([]);
  const recorded = recordedAgents(again.recorded());
  expect(recorded.size).toBe(6);
  for (const [id, state] of recorded) expect(withoutTimes(state)).toEqual(folded.get(id));
  const kinds = [
    'conversation.inherited',
    'conversation.replaced',
    'message.received',
    'message.taken',
    'file.changed',
    'todos.changed',
    'background_task.ended',
    'progress.reported',
  ] as const;
  expect(kinds.filter((kind) => !seen.has(kind))).toEqual([]);
});
