/** The flags that say how a run works and what it prints: of `ramet`, `ramet -p` and `ramet resume`. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { BUBBLE_REFUSED } from '../permission/effective-mode.ts';
import { EFFORTS, LAUNCH_MODES, SESSION_MODES } from '../schema/status.ts';

export function addRunOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--output-format <format>', 'how the result is printed')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .option('--include-partial-messages', 'with stream-json: text as it streams')
    .option('--model <model>', 'a model id, or haiku, sonnet, opus or fable')
    .option('--fallback-model <model>', 'go on with this model when the first stays unavailable')
    .addOption(new Option('--effort <effort>', 'how hard the model thinks').choices([...EFFORTS]))
    .addOption(
      new Option(
        '--thinking <tokens>',
        'most tokens it thinks, at least 1024; a model that takes an effort only gets the one below it',
      )
        .argParser(thinkingTokens)
        .conflicts('effort'),
    )
    .option('--max-turns <number>', 'most model responses before one closing turn', wholeNumber)
    .option('--max-budget-usd <dollars>', 'stop when this much is spent', positiveNumber)
    .addOption(
      new Option('--permission-mode <mode>', 'what tools may do (default: default, or what the session had)')
        .choices([...SESSION_MODES])
        .argParser(sessionMode),
    )
    .option(
      '--allowedTools <rules>',
      'what needs no question, such as "Bash(npm test:*) Edit(src/**)"',
      ruleList,
    )
    .option('--disallowedTools <rules>', 'what is refused, whatever else allows it', ruleList)
    .addOption(
      new Option('--launch <mode>', 'whether children start together (default: auto, as it pays)').choices([
        ...LAUNCH_MODES,
      ]),
    );
}

function ruleList(text: string, before?: string[]): string[] {
  const rules = collectRules(text);
  if (rules.length === 0) throw new InvalidArgumentError('It names no rule.');
  return [...(before ?? []), ...rules];
}

function sessionMode(text: string): string {
  if (SESSION_MODES.some((mode) => mode === text)) return text;
  const reason = text === 'bubble' ? `${BUBBLE_REFUSED}. ` : '';
  throw new InvalidArgumentError(`${reason}Allowed choices are ${SESSION_MODES.join(', ')}.`);
}

export function wholeNumber(text: string): number {
  if (/^\d+$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

function thinkingTokens(text: string): number {
  if (/^\d+$/.test(text) && Number(text) >= 1024) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of at least 1024.');
}

function positiveNumber(text: string): number {
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
