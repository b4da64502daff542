/**
 * A model for many children at work: the emulator in a process of its own. `start N` makes the main agent start N children
 * in the background; each of them writes 100 tokens at 50 a second and reads a file, until it is stopped. `answer` is
 * answered with a long text in Markdown.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchPlace, BIN } from './command.ts';

const CHILD = { baseMs: 400, tokensPerSecond: 50 };
const SECTION = [
  '## A heading with `code`',
  'Some **words** of an answer, word after word, with a [link](https://example.org/a) and _more_ of them.',
  '- an item\n- another item with `code` in it\n  - an inner one',
  '| name | figure |\n|---|---:|\n| first | 1 |\n| second | 22 |',
  '```ts\nexport const total = values.reduce((sum, one) => sum + one, 0);\n```',
].join('\n\n');

export async function startBusyModel(
  place: BenchPlace,
  { answerTokensPerSecond }: { answerTokensPerSecond: number },
): Promise<{ url: string } & Disposable> {
  const file = join(place.repository, 'scenario.json');
  writeFileSync(file, JSON.stringify(scenario(answerTokensPerSecond)));
  const emulator = spawn(process.execPath, [BIN, 'emulate', '--scenario', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(emulator.stdout, 'data');
  const url = /http:[\d./:]+\d/.exec(String(line))?.[0];
  if (url === undefined) throw new Error(`the emulator did not say where it listens: ${line}`);
  return { url, [Symbol.dispose]: () => void emulator.kill() };
}

function scenario(tokensPerSecond: number): unknown {
  const child = (number: number): unknown => ({
    name: 'Agent',
    input: {
      description: `part ${number}`,
      prompt: 'child work',
      subagent_type: 'general-purpose',
      run_in_background: true,
    },
  });
  const started = [20, 50].flatMap((count) => [
    {
      match: { task: `start ${count}`, turn: 0 },
      respond: { tool_use: Array.from({ length: count }, (_, index) => child(index + 1)) },
    },
    { match: { task: `start ${count}` }, respond: { text: 'They are at work.' } },
  ]);
  return {
    rules: [
      {
        match: { task: 'child work' },
        latency: CHILD,
        respond: {
          text: 'I look at it once more, word by word. '.repeat(10),
          output_tokens: 100,
          tool_use: [{ name: 'Read', input: { file_path: 'file.txt' } }],
        },
      },
      ...started,
      {
        match: { task: 'answer' },
        latency: { tokensPerSecond },
        respond: { text: `${SECTION}\n\n`.repeat(300) },
      },
      { match: {}, respond: { text: 'ok' } },
    ],
  };
}
