import { describe, expect, test } from 'vitest';
import type { AgentOverview } from '../journal/projections/status.ts';
import { NO_USAGE } from '../schema/usage.ts';
import type { TreePlace } from './agent-label.ts';
import { agentTable } from './agent-table.ts';
import { displayWidth } from './text/format.ts';

const NOW = 1_000_000;

function agent(number: number, parts: Partial<AgentOverview> = {}): TreePlace<AgentOverview> {
  const overview: AgentOverview = {
    id: `k3v9x2ab.${number}`,
    parent: number === 1 ? null : 'k3v9x2ab.1',
    type: number === 1 ? 'main' : 'general-purpose',
    name: null,
    description: number === 1 ? null : 'mend the parser of dates, and all of its many tests',
    background: false,
    source: null,
    model: 'claude-sonnet-5',
    thinking: null,
    status: 'failed',
    cause: 'invalid_request_error',
    until: null,
    waitMs: null,
    message: null,
    turns: 3,
    resumed: 0,
    startedAt: NOW - 9_000,
    lastEventAt: NOW - 2_100,
    stalledMs: null,
    activity: null,
    usage: NO_USAGE,
    costUsd: 0.0088,
    todos: [],
    phase: null,
    progress: null,
    worktree: null,
    checkoutChanges: [],
    ...parts,
  };
  return { agent: overview, level: number === 1 ? 0 : 1 };
}

const running = {
  status: 'running',
  cause: null,
  activity: { kind: 'retrying', code: 'overloaded', until: NOW },
} as const;
const family = [agent(1), agent(2, running), agent(3, { type: 'fork', description: '日本語の説明' })];

describe('UI-1: agents in a table', () => {
  test.for([40, 60, 80, 100])('no line breaks and no figure is cut on %i columns', (columns) => {
    const shown = agentTable(family, columns, NOW);
    const lines = shown.split('\n');
    expect(lines.filter((line) => displayWidth(line) > columns)).toEqual([]);
    expect(shown.match(/\$0\.0088/g)).toHaveLength(family.length);
    expect(shown.match(/\bsonnet-5\b/g)).toHaveLength(family.length);
    expect(lines).toHaveLength({ 40: 15, 60: 11 }[columns] ?? 8);
  });

  test('on 60 and 40 columns a row takes several lines, its own before what it is about', () => {
    expect(agentTable([agent(1), agent(2, running)], 60, NOW)).toBe(
      [
        'AGENT  TYPE  STATUS  TURNS  TOKENS  COST  LAST  MODEL',
        'k3v9x2ab.1  main  failed: invalid_re…  3  0  $0.0088  2.1 s',
        '  sonnet-5',
        '    failed: invalid_request_error',
        '  .2  general-pu…  running  3  0  $0.0088  2.1 s  sonnet-5',
        '      retrying after overloaded; mend the parser of dates,',
        '      and all of its many tests',
        '',
      ].join('\n'),
    );
    expect(agentTable([agent(2, running)], 40, NOW)).toBe(
      [
        'AGENT  TYPE  STATUS  TURNS  TOKENS  COST',
        '  LAST  MODEL',
        '  .2  general-pu…  running  3  0',
        '    $0.0088  2.1 s  sonnet-5',
        '      retrying after overloaded; mend',
        '      the parser of dates, and all of',
        '      its many tests',
        '',
      ].join('\n'),
    );
  });

  test('on 80 columns every figure is there, and below it what had no room', () => {
    const limit = { status: 'waiting', cause: 'limit', until: NOW + 7_380_000, turns: 12 } as const;
    const shown = agentTable([...family, agent(4, limit)], 80, NOW);
    expect(shown.replace(/until .*\(/, 'until 02:19 (')).toBe(
      [
        'AGENT      TYPE        STATUS              TURNS TOKENS COST    LAST  MODEL',
        'k3v9x2ab.1 main        failed: invalid_re… 3     0      $0.0088 2.1 s sonnet-5',
        '    failed: invalid_request_error',
        '  .2       general-pu… running             3     0      $0.0088 2.1 s sonnet-5',
        '      retrying after overloaded; mend the parser of dates, and all of its many …',
        '  .3       fork        failed: invalid_re… 3     0      $0.0088 2.1 s sonnet-5',
        '      failed: invalid_request_error; 日本語の説明',
        '  .4       general-pu… waiting: limit      12    0      $0.0088 2.1 s sonnet-5',
        '      until 02:19 (in 2 h 3 min); mend the parser of dates, and all of its many…',
        '',
      ].join('\n'),
    );
  });

  test('RES-9: the model comes with how it was asked to think', () => {
    const thinking = { type: 'adaptive', effort: 'high' } as const;
    expect(agentTable([agent(1, { thinking })], null, NOW)).toContain('claude-sonnet-5 (high)');
    expect(agentTable([agent(1, { thinking })], 80, NOW)).toContain(' sonnet-5 (high)');
  });

  test('an agent that keeps a list shows what it works on, until it has ended', () => {
    const todos: AgentOverview['todos'] = [
      { content: 'Read', status: 'completed' },
      { content: 'Mend', status: 'in_progress', activeForm: 'Mending the\u001b[31m parser' },
    ];
    for (const columns of [null, 80])
      expect(agentTable([agent(2, { ...running, todos })], columns, NOW)).toMatch(
        /Mending the\S* parser \(1 of 2\)/,
      );
    expect(agentTable([agent(2, { todos })], null, NOW)).not.toContain('Mending');
  });

  test('RES-4: its last line of progress is shown, cleaned and cut, until it has ended', () => {
    const todos: AgentOverview['todos'] = [{ content: 'Mend', status: 'in_progress' }];
    const progress = `Reading\u001b[31m the\n tests${' and more'.repeat(50)}`;
    for (const columns of [null, 80]) {
      const shown = agentTable([agent(2, { ...running, todos, progress })], columns, NOW);
      expect(shown).toMatch(/Reading the tests and more.{1,40}…/);
      expect(shown).not.toContain('Mend (');
    }
    expect(agentTable([agent(2, { ...running, progress: 'Reading.', todos })], null, NOW)).toContain(
      'Reading. (0 of 1)',
    );
    expect(agentTable([agent(2, { progress })], null, NOW)).not.toContain('Reading');
  });

  test('calls of one tool are counted, not listed', () => {
    const activity: AgentOverview['activity'] = {
      kind: 'tools',
      names: ['Agent', 'Bash', 'Agent'],
      since: NOW - 2_000,
    };
    expect(agentTable([agent(1, { activity })], null, NOW)).toContain('running Agent x2, Bash, 2.0 s');
  });

  test('fifty agents, nested and with wide names, stay in their columns', () => {
    const places = Array.from({ length: 50 }, (_, index) => ({
      agent: agent(index + 2, { type: '検索エージェント', description: '日本語の説明'.repeat(20) }).agent,
      level: (index % 3) + 1,
    }));
    const lines = agentTable([agent(1), ...places], 80, NOW)
      .trimEnd()
      .split('\n');
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(80);
    const columns = lines
      .filter((line) => line.includes('$'))
      .map((line) => displayWidth(line.split('$')[0] ?? ''));
    expect(new Set(columns).size).toBe(1);
  });

  test.for([null, 200])('every column is there where there is room (%s)', (columns) => {
    const shown = agentTable(family, columns, NOW);
    expect(shown).toContain('LAST EVENT  MODEL');
    expect(shown).toContain('failed: invalid_request_error');
    expect(shown).toContain('  k3v9x2ab.2');
  });
});
