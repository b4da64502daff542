import { describe, expect, test } from 'vitest';
import { call, eventsOf, startAgents, startFamily } from '../../../test/fixtures/family.ts';
import type { Answer } from '../../emulator/index.ts';
import { SUMMARISE_AGENT } from '../../engine/background/summarise-agents.ts';
import type { Settings } from '../../settings/settings.ts';

const LONG = 'A line that every agent of this project begins with.\n'.repeat(300);

async function longChild(settings: Settings, options: { attended?: boolean } = {}) {
  const go = Promise.withResolvers<Answer>();
  const family = await startFamily({
    attended: true,
    ...options,
    settings,
    files: { 'AGENTS.md': LONG },
    cast: {
      Work: [startAgents(['Child: read all files.']), { text: 'Done.' }],
      'Child:': [
        call('Read', { file_path: 'AGENTS.md' }),
        call('Glob', { pattern: '*.md' }),
        () => go.promise,
      ],
      [SUMMARISE_AGENT]: () => ({ text: 'Scope: the line\n\u001b[2JReads all files; one of three is done' }),
    },
  });
  const running = family.run('Work.');
  const lines = (): string[] => eventsOf(family.recordedOf(2), 'progress.reported').map(({ line }) => line);
  const end = () => {
    go.resolve({ text: 'Scope: read' });
    return running;
  };
  return { family, lines, end };
}

describe('BG-8: a child that runs for long', () => {
  test('gets a line that says what it is doing, from a fork that changes nothing of it', async () => {
    const { family, lines, end } = await longChild({ background: { summarySeconds: 0.2, costShare: 1 } });
    await expect.poll(lines, { timeout: 20_000 }).toContain('Reads all files; one of three is done');
    const { result } = await end();
    expect(result).toMatchObject({ status: 'done', text: 'Done.' });
    const forks = family
      .recorded()
      .flatMap(({ event }) => (event.type === 'agent.started' ? [event] : []))
      .slice(2);
    expect(forks[0]).toMatchObject({ parent: `${family.session.id}.2`, origin: { source: 'summary' } });
    expect(family.requestsOf('Child:')).toHaveLength(3);
    expect(family.requestsOf('Child:').some(({ body }) => body.includes(SUMMARISE_AGENT))).toBe(false);
  });

  test.each<[string, Settings, { attended?: boolean }]>([
    ['it is switched off', { background: { summarySeconds: 0.05, costShare: 1, agentSummaries: false } }, {}],
    ['no person is there', { background: { summarySeconds: 0.05, costShare: 1 } }, { attended: false }],
    ['it ends before', { background: { summarySeconds: 60, costShare: 1 } }, {}],
  ])('has none where %s', async (_, settings, options) => {
    const { family, end } = await longChild(settings, options);
    await expect.poll(() => family.requestsOf('Child:').length, { timeout: 20_000 }).toBe(3);
    await end();
    await family.session[Symbol.asyncDispose]();
    expect(family.requestsOf(SUMMARISE_AGENT)).toEqual([]);
  });
});
