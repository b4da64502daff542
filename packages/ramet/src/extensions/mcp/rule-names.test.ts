import { describe, expect, test } from 'vitest';
import { isMeant, resolvedPatterns } from './rule-names.ts';
import { type NamedServer, serverKeys, toolKeys } from './tool-names.ts';

function servers(...names: string[]): NamedServer[] {
  return [...serverKeys(names)].map(([name, key]) => ({ name, key }));
}

/** The name by which models know a tool. */
function nameOf(all: readonly NamedServer[], server: string, tool: string): string {
  const key = all.find(({ name }) => name === server)?.key ?? '';
  return toolKeys(key, [tool]).get(tool) ?? '';
}

describe('RES-3: a rule names a server as it is configured', () => {
  test.each<[rule: string, server: string, tool: string]>([
    ['mcp__my__db', 'my__db', 't1'],
    ['mcp__my__db__*', 'my__db', 't1'],
    ['mcp__my__db__t1', 'my__db', 't1'],
    ['mcp__my__db__t*', 'my__db', 't1'],
    ['mcp__my_db', 'my__db', 't1'],
    ['mcp__my.db', 'my.db', 't1'],
    ['mcp__my.db__t1', 'my.db', 't1'],
    ['mcp__my db__query', 'my db', 'query'],
    ['mcp____x__t1', '__x', 't1'],
    ['mcp__Übersicht', 'Übersicht', 't1'],
    [`mcp__${'long'.repeat(20)}`, 'long'.repeat(20), 't1'],
    ['mcp__a__b__c__query', 'a__b__c', 'query'],
  ])('%s means the server %s', (rule, server, tool) => {
    const all = servers(server, 'other');
    const name = nameOf(all, server, tool);
    for (const giving of [true, false]) {
      expect(isMeant(rule, name, all, giving)).toBe(true);
      expect(isMeant(rule, nameOf(all, 'other', tool), all, giving)).toBe(false);
    }
  });

  test('one tool of it is that tool alone', () => {
    const all = servers('my__db');
    expect(isMeant('mcp__my__db__t1', 'mcp__my_db__t1', all, true)).toBe(true);
    expect(isMeant('mcp__my__db__t1', 'mcp__my_db__t2', all, false)).toBe(false);
    expect(isMeant('mcp__my__db__t1', 'mcp__my_db__t1__x', all, false)).toBe(false);
  });

  test('a pattern for servers denies by the configured names too, and allows nothing', () => {
    const all = servers('my.db', 'other');
    for (const rule of ['mcp__my.*', 'mcp__*.db', 'mcp__*.db__t1', 'mcp__my.*__t*']) {
      expect(isMeant(rule, 'mcp__my_db__t1', all, false)).toBe(true);
      expect(isMeant(rule, 'mcp__other__t1', all, false)).toBe(false);
      expect(isMeant(rule, 'mcp__my_db__t1', all, true)).toBe(false);
    }
  });

  test('what denies knows a tool by its own name too', () => {
    const all = servers('b');
    const long = 'x'.repeat(90);
    for (const tool of ['a.b', 'a b/c', long])
      expect(isMeant(`mcp__b__${tool}`, nameOf(all, 'b', tool), all, false)).toBe(true);
    const both = toolKeys('b', ['a.b', 'a_b']);
    expect(both.get('a.b')).not.toBe(both.get('a_b'));
    for (const name of both.values()) expect(isMeant('mcp__b__a.b', name, all, false)).toBe(true);
    expect(isMeant('mcp__b__a.b', 'mcp__b__a_b', all, true)).toBe(false);
  });

  test('where two servers can be meant, it denies both and allows neither', () => {
    const all = servers('my', 'my__db');
    // A tool `db` of `my`, or all of `my__db`: the first is how names of tools are written, and counts by itself.
    expect(isMeant('mcp__my__db', 'mcp__my_db__t1', all, false)).toBe(true);
    expect(isMeant('mcp__my__db', 'mcp__my__db', all, false)).toBe(true);
    expect(isMeant('mcp__my__db', 'mcp__my_db__t1', all, true)).toBe(false);
    const alike = servers('a.b', 'a_b');
    const dotted = nameOf(alike, 'a.b', 't1');
    expect(dotted).not.toBe('mcp__a_b__t1');
    expect(isMeant('mcp__a_b', dotted, alike, false)).toBe(true);
    expect(isMeant('mcp__a_b', dotted, alike, true)).toBe(false);
    // Only one of them is written so.
    expect(isMeant('mcp__a.b', dotted, alike, true)).toBe(true);
    expect(isMeant('mcp__a.b', 'mcp__a_b__t1', alike, true)).toBe(false);
  });

  test('no other name is taken for it', () => {
    const all = servers('DB', 'my__db');
    for (const rule of ['mcp__db', 'mcp__my', 'mcp__my_d', 'mcp__my__dbs', 'Bash', 'mcp__', 'McpCall'])
      for (const name of ['mcp__DB__t1', 'mcp__my_db__t1'])
        expect(isMeant(rule, name, all, false)).toBe(false);
  });

  test('lists of agent types are written with the names that models know', () => {
    const all = servers('my__db', 'my', 'b');
    expect(resolvedPatterns(['mcp__my__db', 'mcp__b__x'], all, false)).toEqual([
      'mcp__my__db',
      'mcp__my_db',
      'mcp__b__x',
    ]);
    expect(resolvedPatterns(['mcp__my__db'], all, true)).toEqual(['mcp__my__db']);
    expect(resolvedPatterns(['mcp__my__db__q'], servers('my__db'), true)).toEqual([
      'mcp__my__db__q',
      'mcp__my_db__q',
    ]);
  });
});
