/**
 * One job of eight tasks, each a file to write, done in every way that Ramet has: by one agent, by forks, by typed agents, by
 * the operator, by a coordinator, by a team of four. The emulator plays the models and accounts for the cache; the bill is that of `ramet cost`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EmulatorOptions, startEmulator } from 'ramet/emulator';
import { benchEnvironment } from './bench-session.ts';
import { BIN, benchPlace } from './command.ts';
import { commitAll } from './team-place.ts';

const TASKS = [1, 2, 3, 4, 5, 6, 7, 8];
const MEMBERS = [1, 2, 3, 4];
/** The operator lands on a branch that nobody is on. */
const TARGET = ['branch', '-M', 'main'] as const;
const SETTINGS = { sandbox: { readOnly: 'off', worktree: 'off' } };
const JOB = 'Do the whole job: write all parts.';

type Respond = NonNullable<EmulatorOptions['respond']>;
type Asked = Parameters<Respond>[0];
type Played = Awaited<ReturnType<Respond>>;

interface Way {
  name: string;
  args: readonly string[];
  /** What the main agent says, by turn, or by what it has said and heard. */
  lead: readonly Played[] | ((asked: Asked) => Played);
}

const call = (name: string, input: Record<string, unknown>) => ({ name, input });
const write = (part: number) => call('Write', { file_path: `part-${part}.txt`, content: `part ${part}\n` });
const order = (part: number, more: Record<string, unknown>) =>
  call('Agent', { prompt: `Write part-${part}.txt now.`, description: `part ${part}`, ...more });
const member = (number: number) =>
  call('Agent', {
    ...{ subagent_type: 'teammate', name: `m${number}`, description: `member ${number}` },
    prompt: `You are member ${number}. Work through the task list.`,
  });

const PRINT = ['-p', JOB, '--permission-mode', 'bypassPermissions'];
const WAYS: readonly Way[] = [
  { name: 'one agent', args: PRINT, lead: TASKS.map((part) => ({ tool_use: [write(part)] })) },
  { name: 'forks', args: PRINT, lead: [{ tool_use: TASKS.map((part) => order(part, {})) }] },
  {
    name: 'typed agents',
    args: PRINT,
    lead: [{ tool_use: TASKS.map((part) => order(part, { subagent_type: 'general-purpose' })) }],
  },
  { name: 'operator', args: ['operate', 'tasks.md', '--into', 'main', '--check', 'true'], lead: [] },
  { name: 'coordinator', args: [...PRINT, '--coordinator'], lead: coordinate },
  {
    name: `team of ${MEMBERS.length}`,
    args: [...PRINT, '--team', 'bench'],
    lead: [
      {
        tool_use: TASKS.map((part) =>
          call('TaskCreate', { subject: `Write part-${part}.txt`, description: 'one line' }),
        ),
      },
      { tool_use: MEMBERS.map(member) },
    ],
  },
];

export async function run(): Promise<void> {
  console.log(`\none job of ${TASKS.length} tasks in every way, one run each; prices of claude-sonnet-5`);
  const bills: { name: string; usd: number }[] = [];
  for (const way of WAYS) {
    const bill = await billOf(way);
    bills.push({ name: way.name, usd: bill.usd });
    console.log(
      `  ${way.name.padEnd(14)} ${String(bill.requests).padStart(3)} requests  ${bill.equivalents.toFixed(0).padStart(7)} input-token equivalents  $${bill.usd.toFixed(4)}  ${(bill.usd / (bills[0]?.usd ?? 1)).toFixed(2)} times one agent`,
    );
  }
}

async function billOf(way: Way): Promise<{ requests: number; equivalents: number; usd: number }> {
  using place = benchPlace();
  const tasks = TASKS.map((part) => `- [ ] T00${part} Write part-${part}.txt now.\n`).join('');
  writeFileSync(join(place.repository, 'tasks.md'), tasks);
  writeFileSync(join(place.repository, 'AGENTS.md'), 'Use plain words.\n'.repeat(40));
  commitAll(place.repository);
  execFileSync('git', TARGET, { cwd: place.repository });
  execFileSync('git', ['switch', '--quiet', '--create', 'desk'], { cwd: place.repository });
  const emulator = await startEmulator({ respond: (asked) => answer(way, asked) });
  const home = place.freshHome();
  mkdirSync(join(home, 'ramet'), { recursive: true });
  writeFileSync(join(home, 'ramet/settings.json'), JSON.stringify(SETTINGS));
  try {
    const env = {
      ...benchEnvironment(emulator.url, home),
      ...{ GIT_AUTHOR_NAME: 'Bench', GIT_AUTHOR_EMAIL: 'bench@localhost' },
      ...{ GIT_COMMITTER_NAME: 'Bench', GIT_COMMITTER_EMAIL: 'bench@localhost' },
    };
    await ramet(way.args, place.repository, env);
    const { total } = JSON.parse(await ramet(['cost', '--all', '--json'], place.repository, env));
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = total.usage;
    const equivalents = input_tokens + 1.25 * cache_creation_input_tokens + 0.1 * cache_read_input_tokens;
    return { requests: total.requests, equivalents, usd: total.total_cost_usd };
  } finally {
    await emulator.close();
  }
}

async function ramet(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`ramet ${args[0]} ended with ${code}: ${errors.slice(0, 500)}`);
  return output;
}

function answer({ lead }: Way, asked: Asked): Played {
  const { request, turn, isFork } = asked;
  const said = request.messages.filter(({ role }) => role === 'user').map((one) => JSON.stringify(one));
  const first = said[0] ?? '';
  const [, number] = /You are member (\d)\./.exec(first) ?? [];
  if (number !== undefined) return memberTurn(Number(number), turn);
  if (first.includes(JOB) && !isFork) {
    if (typeof lead === 'function') return lead(asked);
    return lead[turn] ?? { text: 'All parts are written.' };
  }
  const part = [...said.join('\n').matchAll(/Write part-(\d)\.txt now/g)].at(-1)?.[1];
  return turn === 0 && part !== undefined ? { tool_use: [write(Number(part))] } : { text: 'Done.' };
}

/** One worker looks, eight write, one verifies. */
function coordinate({ request }: Asked): Played {
  const said = JSON.stringify(request.messages.filter(({ role }) => role === 'assistant'));
  const heard = JSON.stringify(request.messages.filter(({ role }) => role === 'user'));
  const reports = heard.split('<task-notification>').length - 1;
  const phase = (to: string, note: string) => call('Phase', { to, note });
  const worker = (name: string, prompt: string) => call('Agent', { name, description: name, prompt });
  const files = TASKS.map((part) => `part-${part}.txt`).join(', ');
  const steps: readonly [said: string, reports: number, tool_use: ReturnType<typeof call>[]][] = [
    ['"reader"', 0, [worker('reader', 'Say which of part-1.txt to part-8.txt exist.')]],
    ['"synthesis"', 1, [phase('synthesis', 'No part exists.')]],
    ['"implementation"', 1, [phase('implementation', `Write ${files}, one line each.`)]],
    ['"writer 1"', 1, TASKS.map((part) => worker(`writer ${part}`, `Write part-${part}.txt now. One line.`))],
    ['"verification"', 9, [phase('verification', `Prove that ${files} exist.`)]],
    ['"checker"', 9, [worker('checker', 'Say which of part-1.txt to part-8.txt exist.')]],
  ];
  const next = steps.find(([mark]) => !said.includes(mark));
  if (next === undefined) return { text: reports < 10 ? 'I wait.' : 'All parts are written.' };
  return reports < next[1] ? { text: 'I wait.' } : { tool_use: next[2] };
}

/** Two tasks, one after the other, then a report. */
function memberTurn(number: number, turn: number): Played {
  const update = (task: number, status: string) =>
    call('TaskUpdate', { task, status, ...(status === 'completed' && { evidence: `part-${task}.txt` }) });
  const second = number + MEMBERS.length;
  const turns: readonly Played[] = [
    { tool_use: [update(number, 'in_progress')] },
    { tool_use: [write(number)] },
    { tool_use: [update(number, 'completed'), update(second, 'in_progress')] },
    { tool_use: [write(second)] },
    { tool_use: [update(second, 'completed')] },
    {
      tool_use: [call('SendMessage', { to: 'lead', message: `Parts ${number} and ${second} are written.` })],
    },
  ];
  return turns[turn] ?? { text: 'Nothing left to do.' };
}
