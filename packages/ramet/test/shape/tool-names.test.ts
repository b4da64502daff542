/**
 * Tools describe themselves (`access`, `schedule`, `details` in tools/tool.ts), so code does not ask for their names.
 * Files that still name a tool are in this list, with the reason.
 */
import { describe, expect, test } from 'vitest';
import { builtInTools } from '../../src/tools/registry.ts';
import { readText, SOURCE_ROOT, sourceFiles } from './repository.ts';

const ALLOWED: Readonly<Record<string, string>> = {
  'agents/definitions/definition-tools.ts': 'what tools are called in definition files',
  'agents/prompts/main-prompt.ts': 'the list of tools of agents that only read',
  'settings/other-tools/other-tools.ts': 'what tools are called in the settings of other programs',
  'extensions/prompts/prompt-fields.ts': 'what tools are called in skills and commands of other programs',
  'cli/interactive/chat/completed-call.ts':
    'which outputs people see elsewhere: a list that stays, a file they have',
  'cli/demo/fork-story.ts': 'it plays a model, which makes calls',
  'cli/demo/operate-story.ts': 'it plays a model, which makes calls',
  'extensions/mcp/tool-names.ts': 'the one place that makes names of tools of servers',
  'journal/projections/file-history.ts': 'a recorded call holds the name of its tool and nothing else of it',
  'permission/rule.ts': 'the syntax of rules: what each tool takes in parentheses',
  'permission/shell/assess-command.ts': 'rules for commands are written Bash(...)',
  'permission/shell/judge-file.ts': 'rules for files are written Read(...), Edit(...) and Write(...)',
  'permission/shell/may-run.ts': 'rules for files are written Read(...), Edit(...) and Write(...)',
  'permission/shell/named-files.ts': 'rules for files are written Read(...) and Edit(...)',
  'permission/tool-name-pattern.ts': 'the syntax of rules: the names that one can contain',
  'permission/decide.ts': 'rules for files are written Read(...)',
  'permission/assess-reach.ts': 'rules for addresses are written WebFetch(...)',
  'schema/events.ts': 'a recorded word for who stopped a task',
  'tools/agent.ts': 'its own name, which recorded heads of prompts hold',
  'tools/shell/background-tasks.ts': 'the same recorded word',
  'tools/shell/task-output.ts': 'the same recorded word',
};

/** Models and their doubles make calls, and so name tools. */
const MODELS = /^(?:model|emulator|testing)\//;

const names = builtInTools({ fork: true, types: [] }).map(({ name }) => name);
const literal = new RegExp(`(?<!\\bname: )(['"\`])(?:${names.join('|')})\\1|['"]mcp__`);

const naming = sourceFiles()
  .filter((path) => literal.test(readText(path)))
  .map((path) => path.slice(SOURCE_ROOT.length))
  .filter((path) => !MODELS.test(path));

describe('the names of tools', () => {
  test('are asked for by no file but those that have a reason', () => {
    expect(naming.filter((path) => !Object.hasOwn(ALLOWED, path))).toEqual([]);
  });

  test('are still in every file that has one', () => {
    expect(Object.keys(ALLOWED).filter((path) => !naming.includes(path))).toEqual([]);
  });

  test.each([
    ["if (tool.name === 'Bash') return;", true],
    ["switch (name) { case 'Edit': }", true],
    ['name.startsWith("mcp__")', true],
    ["new Set(['Glob', 'Grep'])", true],
    ["defineTool({ name: 'Bash' })", false],
    ["'Bash is not permitted'", false],
  ])('%s: found is %s', (text, found) => expect(literal.test(text)).toBe(found));
});
