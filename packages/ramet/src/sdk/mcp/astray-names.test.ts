import { describe, expect, test } from 'vitest';
import { serverKeys, toolKeys } from '../../extensions/mcp/tool-names.ts';
import { type AstrayGround, whyAstray } from './astray-names.ts';

function ground(names: readonly string[], tools: readonly string[] = []): AstrayGround {
  const servers = [...serverKeys(names)].map(([name, key]) => ({ name, key }));
  return { servers, toolsOf: (key) => [...toolKeys(key, tools).values()] };
}

describe('RES-3: a rule whose name is near to a server or a tool, and names none', () => {
  test.each<[rule: string, servers: string[], meant: string]>([
    ['mcp__db', ['DB'], 'mcp__DB'],
    ['mcp__db__*', ['DB'], 'mcp__DB__*'],
    ['mcp__db__query', ['DB', 'other'], 'mcp__DB__query'],
    ['mcp__mydb', ['my__db'], 'mcp__my_db'],
    ['mcp__my-db__query', ['my_db'], 'mcp__my_db__query'],
    ['mcp__githib', ['github'], 'mcp__github'],
    ['mcp__jria', ['jira'], 'mcp__jira'],
    ['mcp__playwrihgt__click', ['playwright'], 'mcp__playwright__click'],
    ['mcp__My.DB', ['my.db'], 'mcp__my_db'],
  ])('%s with the servers %j: %s', (rule, servers, meant) => {
    for (const giving of [true, false])
      expect(whyAstray(rule, ground(servers), giving)).toBe(
        `names no MCP server that is set up here: did you mean ${meant}?`,
      );
  });

  test.each<[rule: string, servers: string[]]>([
    ['mcp__github', []],
    ['mcp__github', ['gitlab']],
    ['mcp__github_enterprise', ['github']],
    ['mcp__db', ['da']],
    ['mcp__bd', ['db']],
    ['mcp__jina', ['jira']],
    ['mcp__prod1', ['prod2']],
    ['mcp__linear__create', ['jira', 'notion']],
    ['mcp__*', ['db']],
    ['mcp__d*', ['DB']],
    ['mcp__db', ['db', 'DB']],
    ['mcp__my.db__query', ['my.db']],
    ['Bash', ['bash']],
  ])('%s with the servers %j: not a word', (rule, servers) => {
    for (const giving of [true, false]) expect(whyAstray(rule, ground(servers), giving)).toBeNull();
  });

  test('a tool that is nearly the name of one that the server was known to have', () => {
    const db = ground(['db'], ['query', 'drop.table']);
    const why = 'names no tool that the MCP server db had when it was last asked: did you mean';
    expect(whyAstray('mcp__db__qeury', db, false)).toBe(`${why} mcp__db__query?`);
    expect(whyAstray('mcp__db__Query', db, true)).toBe(`${why} mcp__db__query?`);
    for (const rule of ['mcp__db__query', 'mcp__db__insert', 'mcp__db__q*', 'mcp__db__read_resource'])
      expect(whyAstray(rule, db, false)).toBeNull();
    expect(whyAstray('mcp__db__qeury', ground(['db']), false)).toBeNull();
    // A deny rule holds for it; a rule that allows must have the name that models know.
    expect(whyAstray('mcp__db__drop.table', db, false)).toBeNull();
    expect(whyAstray('mcp__db__drop.table', db, true)).toBe(`${why} mcp__db__drop_table?`);
  });

  test('a rule that would allow one of two servers that can be meant', () => {
    const two = ground(['my', 'my__db']);
    expect(whyAstray('mcp__my__db', two, true)).toBe(
      'may mean the MCP server my__db or another, so it does not allow my__db: write mcp__my_db',
    );
    expect(whyAstray('mcp__my__db__query', two, true)).toContain('write mcp__my_db__query');
    expect(whyAstray('mcp__my__db', two, false)).toBeNull();
    expect(whyAstray('mcp__a_b', ground(['a_b', 'a.b']), true)).toBeNull();
  });
});
