import { describe, expect, test } from 'vitest';
import type { TreePlace } from '../journal/projections/agent-tree.ts';
import type { AgentOverview } from '../journal/projections/status.ts';
import { NO_USAGE } from '../schema/usage.ts';
import { agentTable } from './agent-table.ts';

const NOW = 1_000_000;

function agent(number: number, parts: Partial<AgentOverview> = {}): TreePlace<AgentOverview> {
  const overview: AgentOverview = {
    id: `k3v9x2ab.${number}`,
    parent: number === 1 ? null : 'k3v9x2ab.1',
    type: number === 1 ? 'main' : 'general-purpose',
    name: null,
    description: number === 1 ? null : 'mend the parser of dates, and all of its many tests',
    background: false,
    model: 'claude-sonnet-5',
    status: 'failed',
    cause: 'invalid_request_error',
    until: null,
    message: null,
    turns: 3,
    startedAt: NOW - 9_000,
    lastEventAt: NOW - 2_100,
    stalledMs: null,
    activity: null,
    usage: NO_USAGE,
    costUsd: 0.0088,
    todos: [],
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
  test.for([60, 80, 100])('no line breaks on a screen of %i columns', (columns) => {
    const lines = agentTable(family, columns, NOW).split('\n');
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    expect(lines).toHaveLength(5);
  });

  test('on 80 columns who, what, cost, age and purpose are left', () => {
    expect(agentTable(family, 80, NOW)).toBe(
      [
        'AGENT       TYPE             STATUS              COST     LAST   DOING, FOR',
        'k3v9x2ab.1  main             failed: invalid_r…  $0.0088  2.1 s',
        '  .2        general-purpose  running             $0.0088  2.1 s  retrying after…',
        '  .3        fork             failed: invalid_r…  $0.0088  2.1 s  日本語の説明',
        '',
      ].join('\n'),
    );
  });

  test.for([null, 200])('every column is there where there is room (%s)', (columns) => {
    const shown = agentTable(family, columns, NOW);
    expect(shown).toContain('LAST EVENT  MODEL');
    expect(shown).toContain('failed: invalid_request_error');
    expect(shown).toContain('  k3v9x2ab.2');
  });
});
