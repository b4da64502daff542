/**
 * Everything that a repository can bring: settings with hooks, trust, agents, skills, commands and instructions, 500 files
 * in all, as a session reads them when it opens; in a trusted folder, so that digests are compared too. A process each,
 * since the code is cold at start; and again in the same process, where only the reading counts.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openAgentTypes } from '../packages/ramet/src/sdk/agent-types/agent-types.ts';
import { changeTrust } from '../packages/ramet/src/sdk/calls/trust.ts';
import { extensionPlace, findPlugins } from '../packages/ramet/src/sdk/extensions/plugins.ts';
import { openPrompts } from '../packages/ramet/src/sdk/extensions/session-prompts.ts';
import { findPlace } from '../packages/ramet/src/sdk/place.ts';
import { readSurroundings } from '../packages/ramet/src/sdk/session/main/surroundings.ts';
import { sessionSettings, settingsPlace } from '../packages/ramet/src/sdk/session/setup/session-settings.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const AGENTS = 200;
const SKILLS = 150;
const COMMANDS = 100;
const RULES = 50;
const ROUNDS = 11;
const GOAL = 60;

interface Loads {
  readonly cold: number;
  readonly warm: number;
  readonly cpu: number;
}

export async function run(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'ramet-bench-extensions-'));
  try {
    writeRepository(root);
    changeTrust('trust', callOf(root));
    const loads = Array.from({ length: ROUNDS }, (): Loads => {
      const args = [import.meta.filename, root];
      return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
    });
    const total = AGENTS + SKILLS + COMMANDS + RULES;
    console.log(`\nloading ${total} definitions of a trusted repository, ${ROUNDS} rounds`);
    for (const [name, pick] of Object.entries(SHOWN))
      console.log(`  ${name.padEnd(32)} ${showSpread(spreadOf(loads.map(pick)), 'ms')}`);
    const { median } = spreadOf(loads.map(({ warm }) => warm));
    console.log(`  ${verdict(`${total} definitions`, median, GOAL, 'ms')}`);
  } finally {
    rmSync(root, { recursive: true });
  }
}

const SHOWN: Readonly<Record<string, (loads: Loads) => number>> = {
  'the first time, with the code': ({ cold }) => cold,
  'in a process that has the code': ({ warm }) => warm,
  ' CPU': ({ cpu }) => cpu,
};

function callOf(root: string): { cwd: string; env: NodeJS.ProcessEnv } {
  const env = { PATH: process.env.PATH, HOME: join(root, 'user'), RAMET_HOME: join(root, 'home') };
  return { cwd: join(root, 'work'), env };
}

/** As `openSession` does. */
async function load(root: string): Promise<void> {
  const call = callOf(root);
  const place = findPlace(call);
  const settings = await sessionSettings(call);
  const { plugins } = await findPlugins(place, { ...settings, env: call.env });
  const prompts = await openPrompts(extensionPlace(place, call.env, plugins), settingsPlace(place, call.env));
  using types = await openAgentTypes(place, call.env, { plugins });
  const { instructions } = await readSurroundings(place, {}, (text) => text);
  const notices = await prompts.notices([]);
  const isWhole =
    notices.length === 0 &&
    prompts.all.length === SKILLS + COMMANDS &&
    types.definitions.length >= AGENTS &&
    settings.hooks?.length === 1 &&
    instructions?.includes('Rule 49') === true;
  if (!isWhole) throw new Error('something is missing');
}

async function measureHere(root: string): Promise<Loads> {
  const timed = async (): Promise<number> => {
    const started = performance.now();
    await load(root);
    return performance.now() - started;
  };
  const cold = await timed();
  const before = process.cpuUsage();
  const warm = await timed();
  const { user, system } = process.cpuUsage(before);
  return { cold, warm, cpu: (user + system) / 1_000 };
}

function writeRepository(root: string): void {
  const body = 'It looks after one part of a program and knows all of it. '.repeat(30);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, 'work', path)), { recursive: true });
    writeFileSync(join(root, 'work', path), text);
  };
  const front = (name: string): string => `---\nname: ${name}\ndescription: Looks after ${name}.\n`;
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'bash tools/check.sh' }] }] };
  mkdirSync(join(root, 'user'), { recursive: true });
  mkdirSync(join(root, 'work/.git/refs'), { recursive: true });
  mkdirSync(join(root, 'work/.git/objects'), { recursive: true });
  writeFileSync(join(root, 'work/.git/HEAD'), 'ref: refs/heads/main\n');
  write('tools/check.sh', 'exit 0\n');
  write('.claude/settings.json', JSON.stringify({ hooks }));
  write('.ramet/settings.json', JSON.stringify({ permissions: { allow: ['Bash(npm test:*)'] } }));
  write('CLAUDE.md', 'Be brief.\n');
  for (let at = 0; at < AGENTS; at++)
    write(`.claude/agents/agent-${at}.md`, `${front(`agent-${at}`)}tools: Read, Bash\n---\n${body}\n`);
  for (let at = 0; at < SKILLS; at++) {
    write(
      `.claude/skills/skill-${at}/SKILL.md`,
      `${front(`skill-${at}`)}allowed-tools: Read\n---\n${body}\n`,
    );
    write(`.claude/skills/skill-${at}/notes.md`, body);
  }
  for (let at = 0; at < COMMANDS; at++)
    write(`.claude/commands/command-${at}.md`, `---\ndescription: d\n---\n${body}\n`);
  for (let at = 0; at < RULES; at++) write(`.claude/rules/rule-${at}.md`, `Rule ${at}: be kind.\n`);
}

const [root] = process.argv.slice(2);
if (import.meta.main && root !== undefined) console.log(JSON.stringify(await measureHere(root)));
else if (import.meta.main) await run();
