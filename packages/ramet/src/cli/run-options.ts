/** The flags that say how a run works and what it prints: of `ramet`, `ramet -p` and `ramet resume`. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { BUBBLE_REFUSED } from '../permission/policy.ts';
import { isSessionId } from '../schema/ids.ts';
import { EFFORTS, LAUNCH_MODES, SESSION_MODES, SETTINGS_SOURCES } from '../schema/status.ts';

export function addRunOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--output-format <format>', 'format of the result')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .option('--include-partial-messages', 'with stream-json: print text as it streams')
    .option('--verbose', 'with stream-json: nothing more, it always has every line')
    .option(
      '--model <model>',
      'a model id, or haiku, sonnet, opus, fable, or recipe: no AI, carries out the blocks of a task',
    )
    .option('--fallback-model <model>', 'switch to this model when the first stays unavailable')
    .addOption(new Option('--effort <effort>', 'how hard the model thinks').choices([...EFFORTS]))
    .addOption(
      new Option(
        '--thinking <tokens>',
        'limit of thinking tokens, at least 1024; a model that only takes an effort gets the next lower one',
      )
        .argParser(thinkingTokens)
        .conflicts('effort'),
    )
    .option('--max-turns <number>', 'limit of model responses; one closing turn follows', wholeNumber)
    .option('--max-budget-usd <dollars>', 'stop when this much is spent', positiveNumber)
    .addOption(
      new Option(
        '--permission-mode <mode>',
        'what tools may do (default: default, or the mode of the resumed session)',
      )
        .choices([...SESSION_MODES])
        .argParser(sessionMode),
    )
    .option(
      '--allowedTools <rules>',
      'what to allow without asking, such as "Bash(npm test:*) Edit(src/**)"',
      ruleList,
    )
    .option('--disallowedTools <rules>', 'what to refuse always', ruleList)
    .option(
      '--agents <types>',
      'more agent types: JSON such as {"name": {"description", "prompt"}}, or a file',
    )
    .option(
      '--plugin-dir <folder>',
      'use the plugin in this folder: agents, skills, commands; may be repeated',
      oneMore,
    )
    .option(
      '--mcp-config <file>',
      'more MCP servers: a file like .mcp.json, or its JSON; may be repeated',
      oneMore,
    )
    .option(
      '--add-dir <folder>',
      'another directory to work in: acceptEdits holds there too; may be repeated',
      oneMore,
    )
    .option('--strict-mcp-config', 'only MCP servers of --mcp-config')
    .option('--settings <settings>', 'settings that come before those of files: a file, or its JSON')
    .addOption(
      new Option(
        '--setting-sources <sources>',
        `which settings files count besides managed policy: of ${SETTINGS_SOURCES.join(', ')}, with commas`,
      ).argParser(settingSources),
    )
    .option(
      '--bare',
      'load nothing that is found: hooks, MCP servers, skills, commands, plugins, agent files, instructions, memory',
    )
    .option('--trust', 'trust this folder for this run, as it is (also RAMET_TRUST=1)')
    .addOption(
      new Option(
        '--launch <mode>',
        'whether children start together (default: auto, whichever costs less)',
      ).choices([...LAUNCH_MODES]),
    );
}

/** What the main agent of a new session is, and what it answers with. */
export function addAgentOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--agent <type>', 'the agent type that the main agent is of').conflicts([
        'continue',
        'resume',
        'systemPrompt',
      ]),
    )
    .addOption(
      new Option('--tools <names>', 'built-in tools that there are, such as "Read,Grep"; "" for none')
        .argParser(collectRules)
        .conflicts(['continue', 'resume']),
    )
    .option('--system-prompt <text>', "instead of the main agent's system prompt")
    .option('--append-system-prompt <text>', "after the main agent's system prompt")
    .option('--json-schema <schema>', 'with -p: the answer is JSON that fits this JSON Schema, or file');
}

export function addInputOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--input-format <format>', 'with -p: stream-json reads prompts as lines of JSON').choices([
        'text',
        'stream-json',
      ]),
    )
    .option('--replay-user-messages', 'with --input-format stream-json: repeat each message before its run');
}

function oneMore(text: string, before: string[] = []): string[] {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty.');
  return [...before, text];
}

export function ruleList(text: string, before?: string[]): string[] {
  const rules = collectRules(text);
  if (rules.length === 0) throw new InvalidArgumentError('It names no rule.');
  return [...(before ?? []), ...rules];
}

function sessionMode(text: string): string {
  if (SESSION_MODES.some((mode) => mode === text)) return text;
  const reason = text === 'bubble' ? `${BUBBLE_REFUSED}. ` : '';
  throw new InvalidArgumentError(`${reason}Allowed choices are ${SESSION_MODES.join(', ')}.`);
}

function settingSources(text: string): string {
  const wrong = text
    .split(',')
    .filter(Boolean)
    .find((one) => !SETTINGS_SOURCES.some((source) => source === one.trim()));
  if (wrong === undefined) return text;
  throw new InvalidArgumentError(
    `There is no source ${JSON.stringify(wrong)}: give ${SETTINGS_SOURCES.join(', ')}.`,
  );
}

export function wholeNumber(text: string): number {
  if (/^\d+$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

export function portNumber(text: string): number {
  if (/^\d+$/.test(text) && Number(text) > 0 && Number(text) < 2 ** 16) return Number(text);
  throw new InvalidArgumentError('It must be a port: a whole number from 1 to 65535.');
}

export const SESSION_ID_FORM = 'eight digits and small letters without i, l, o and u, such as a1b2c3d4';

export function sessionIdOf(text: string): string {
  if (isSessionId(text)) return text;
  throw new InvalidArgumentError(`It must be ${SESSION_ID_FORM}.`);
}

function thinkingTokens(text: string): number {
  if (/^\d+$/.test(text) && Number(text) >= 1024) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of at least 1024.');
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('It must be a number above 0.');
}

/** Rules given to a flag: separated by commas or blanks, except inside parentheses. */
export function collectRules(text: string): string[] {
  const rules: string[] = [];
  let current = '';
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (depth > 0 || !/[,\s]/.test(character)) current += character;
    else {
      rules.push(current);
      current = '';
    }
  }
  return [...rules, current].filter((rule) => rule !== '');
}
