import { describe, expect, test } from 'vitest';
import { agentStarted } from '../../test/recorded-events.ts';
import { typeOfAgent } from '../journal/projections/agent-state.ts';
import { agentTree } from './agent-label.ts';

const member = (id: string, parent: string | null) => ({ id, parent });

describe('UI-1: agents as a tree', () => {
  test('children follow their parent, siblings are by number, not by who began first', () => {
    const members = [
      member('s.1', null),
      member('s.10', 's.1'),
      member('s.3', 's.1'),
      member('s.2', 's.1'),
      member('s.4', 's.2'),
      member('t.1', null),
      member('s.5', 's.4'),
    ];
    expect(agentTree(members).map(({ agent, level }) => [agent.id, level])).toEqual([
      ['s.1', 0],
      ['s.2', 1],
      ['s.4', 2],
      ['s.5', 3],
      ['s.3', 1],
      ['s.10', 1],
      ['t.1', 0],
    ]);
  });

  test('an agent whose parent is missing is still shown', () => {
    expect(agentTree([member('s.9', 's.1')])).toEqual([{ agent: member('s.9', 's.1'), level: 0 }]);
  });

  test('a fork is called one, whatever type its parent has', () => {
    const origin = { call: 'c', description: 'd', background: false, depth: 1 };
    expect(typeOfAgent(agentStarted({ agentType: 'main', origin: { ...origin, kind: 'fork' } }))).toBe(
      'fork',
    );
    expect(typeOfAgent(agentStarted({ agentType: 'Explore', origin: { ...origin, kind: 'fresh' } }))).toBe(
      'Explore',
    );
    expect(typeOfAgent(agentStarted())).toBe('main');
  });
});
