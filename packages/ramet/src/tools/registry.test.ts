import { describe, expect, test } from 'vitest';
import { editTool } from './files/edit.ts';
import { readTool } from './files/read.ts';
import { findTool, parseInput, builtInTools as toolsWith } from './registry.ts';
import { grepTool } from './search/grep.ts';
import { bashTool } from './shell/bash.ts';
import { toolSchema } from './tool.ts';

const builtInTools = toolsWith({ fork: true, types: ['- Explore: looks'] });

describe('RES-6: the tools on the wire', () => {
  test('come in a fixed order, with the fields models know', () => {
    const fields = builtInTools.map((tool) => {
      const { name, input_schema } = toolSchema(tool);
      return [name, Object.keys(input_schema.properties ?? {}), input_schema.required];
    });
    expect(fields).toEqual([
      ['Read', ['file_path', 'offset', 'limit'], ['file_path']],
      ['Write', ['file_path', 'content'], ['file_path', 'content']],
      [
        'Edit',
        ['file_path', 'old_string', 'new_string', 'replace_all'],
        ['file_path', 'old_string', 'new_string'],
      ],
      ['Glob', ['pattern', 'path'], ['pattern']],
      [
        'Grep',
        ['pattern', 'path', 'glob', 'output_mode', '-i', '-n', '-A', '-B', '-C', 'head_limit'],
        ['pattern'],
      ],
      ['Bash', ['command', 'timeout', 'description', 'run_in_background'], ['command']],
      ['TaskOutput', ['task_id', 'block', 'timeout'], ['task_id']],
      ['TaskStop', ['task_id'], ['task_id']],
      ['TodoWrite', ['todos'], ['todos']],
      ['WebFetch', ['url', 'prompt'], ['url']],
      [
        'Agent',
        [
          'prompt',
          'description',
          'subagent_type',
          'model',
          'effort',
          'run_in_background',
          'name',
          'isolation',
          'schema',
          'expect',
          'budget',
          'max_turns',
        ],
        ['prompt', 'description'],
      ],
      ['SendMessage', ['to', 'message'], ['to', 'message']],
      ['EnterWorktree', ['name'], undefined],
      ['ExitWorktree', [], undefined],
    ]);
  });

  test('take less than 8.5 KB together', () => {
    const bytes = Buffer.byteLength(JSON.stringify(builtInTools.map(toolSchema)));
    expect(bytes).toBeLessThan(8_704);
  });

  test('accept no field they do not know', () => {
    for (const tool of builtInTools) {
      const parsed = parseInput(tool, { made_up: 1 });
      expect(parsed, tool.name).toMatchObject({ ok: false, message: expect.stringContaining('made_up') });
    }
  });

  test('are found by their exact name', () => {
    expect(findTool(builtInTools, 'Grep')).toBe(grepTool);
    expect(findTool(builtInTools, 'grep')).toBeUndefined();
  });
});

describe('parseInput', () => {
  test('passes what fits', () => {
    expect(parseInput(readTool, { file_path: 'a', limit: 5 })).toEqual({
      ok: true,
      value: { file_path: 'a', limit: 5 },
    });
  });

  test.for([
    [readTool, {}, 'file_path is missing'],
    [readTool, { path: 'a' }, 'file_path is missing; unknown field path'],
    [readTool, { file_path: 'a', limit: '5' }, 'limit: expected number, received string'],
    [readTool, { file_path: 'a', offset: 0 }, 'offset: Too small'],
    [readTool, { file_path: '' }, 'file_path: Too small'],
    [readTool, 'a', 'expected an object'],
    [readTool, null, 'expected an object'],
    [bashTool, { command: 'x', timeout: 1_000_000 }, 'timeout: Too big: expected number to be <=600000'],
    [grepTool, { pattern: 'x', output_mode: 'lines' }, 'output_mode: expected one of "content"'],
    [
      editTool,
      { file_path: 'a', old_string: 1, new_string: 'x' },
      'old_string: expected string, received number',
    ],
  ] as const)('names what is wrong: %#', ([tool, input, expected]) => {
    expect(parseInput(tool, input)).toEqual({ ok: false, message: expect.stringContaining(expected) });
  });

  test('lists the fields there are', () => {
    expect(parseInput(readTool, {})).toEqual({
      ok: false,
      message:
        'Wrong input for Read: file_path is missing. Fields: file_path (string), offset? (integer), limit? (integer).',
    });
  });
});
