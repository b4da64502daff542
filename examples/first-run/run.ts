/**
 * The main job, offline, with a model that follows a script. An agent fixes a small repository, and the change and the bill are shown. The
 * command, its tools, git, the test and the journal are real; the model is the emulator following scenario.yaml.
 */
import { join } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { loadScenario, type Scenario, startEmulator } from 'ramet/emulator';
import { Sandbox } from './sandbox.ts';

const ROOT = join(import.meta.dirname, '../..');
const PROMPT = 'The test of leap-year.js fails. Find out why and fix it.';
const BYPASS = ['--permission-mode', 'bypassPermissions'];

const SCENARIO = 'examples/first-run/scenario.yaml';

async function firstRun(sandbox: Sandbox, scenario: Scenario): Promise<void> {
  say(`A repository with a failing test: ${sandbox.repository}`);
  if (sandbox.testsPass()) throw new Error('its test passes before anything was done');
  await using emulator = await startEmulator({ scenario });
  say(`A stand-in for the model: ${emulator.url}, the emulator, which follows`);
  say(`the script in ${SCENARIO}. No key, no network, no charge.`);

  heading(`ramet -p "${PROMPT}" \\\n    ${BYPASS.join(' ')}`);
  const provider = { ANTHROPIC_BASE_URL: emulator.url, ANTHROPIC_API_KEY: 'any' };
  say(await succeed(sandbox, ['-p', PROMPT, ...BYPASS], provider));
  if (!sandbox.testsPass()) throw new Error('the test still fails');

  heading('git diff');
  say(sandbox.git('diff', '--no-color'));
  heading('ramet cost');
  say(await succeed(sandbox, ['cost']));
  say('\nThe tokens are those of the requests that were really sent, counted by the rules');
  say('of the prompt cache; the dollars are what the model would have charged for them.');
}

async function succeed(sandbox: Sandbox, args: string[], env?: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await sandbox.ramet(args, env);
  if (code === 0) return stdout;
  throw new Error(`ramet ${args[0]} ended with exit code ${code}: ${stderr.trim()}`);
}

function say(text: string): void {
  process.stdout.write(`${text.trimEnd()}\n`);
}

function heading(command: string): void {
  say(`\n${styleText('bold', `$ ${command}`)}`);
}

function farewell({ repository, home }: Sandbox, keep: boolean): void {
  if (!keep) say('\nThe test passes now. The folder is gone again: --keep leaves it.');
  else say(`\nThe test passes now. To look around:\n  cd ${repository}\n  RAMET_HOME=${home} ramet show`);
}

try {
  const options = { keep: { type: 'boolean' }, scenario: { type: 'string' } } as const;
  const { keep = false, scenario = join(ROOT, SCENARIO) } = parseArgs({ options }).values;
  const answers = await loadScenario(scenario);
  using sandbox = new Sandbox({ keep });
  await firstRun(sandbox, answers);
  farewell(sandbox, keep);
} catch (error) {
  process.stderr.write(`first run: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
