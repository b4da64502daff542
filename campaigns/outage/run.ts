/** One run of `ramet -p` with many children behind a gateway that is away, resets connections and lets requests stall. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmulator } from '../../packages/ramet/src/emulator/index.ts';
import { sessionOfFile } from '../../packages/ramet/src/journal/session-file.ts';
import { openReader } from '../../packages/ramet/src/journal/sessions.ts';
import { findPlace } from '../../packages/ramet/src/sdk/place.ts';
import { checkOutage, type OutageFigures } from './checks.ts';
import { Gateway } from './gateway.ts';
import { type PlayOptions, playOf } from './play.ts';

export interface OutagePlan extends PlayOptions {
  /** How long the provider is away, and after how long at work that begins. */
  awaySeconds: number;
  afterSeconds: number;
  resetSeconds: number;
  silenceSeconds: number;
  /** How long the model takes for the first token. */
  latencyMs: number;
  executor: string;
  onNote: (line: string) => void;
}

export interface OutageResult extends OutageFigures {
  code: number | null;
  seconds: number;
  stalled: number;
  resets: number;
  broken: number;
}

const COMMAND = join(import.meta.dirname, '../../packages/ramet/bin/ramet.js');

export async function runOutage(plan: OutagePlan): Promise<OutageResult> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-outage-')));
  const play = playOf(plan);
  const latency = { baseMs: plan.latencyMs, tokensPerSecond: 500 };
  const emulator = await startEmulator({
    respond: play.respond,
    fault: play.fault,
    latency,
    keepRequests: false,
  });
  const gateway = new Gateway(emulator.port);
  await gateway.open();
  const over = new AbortController();
  try {
    const env = makePlace(root, plan, gateway.port);
    const repository = join(root, 'repository');
    const began = performance.now();
    const disturbing = play.handedOut.then(() => disturb(gateway, plan, over.signal));
    const { code, stderr } = await runCommand(repository, env, plan.executor);
    const seconds = (performance.now() - began) / 1_000;
    over.abort();
    await Promise.race([disturbing, sleep(1_000)]);
    const { project } = findPlace({ cwd: repository, env });
    const session = readdirSync(project).flatMap((name) => sessionOfFile(name) ?? [])[0] ?? '';
    const reader = openReader({ project, session });
    const figures = checkOutage(reader, repository, gateway, plan);
    reader.close();
    if (code !== 0) figures.problems.push(`exit code ${code}: ${stderr.trimEnd().split('\n').at(-1)}`);
    const { resets, broken } = gateway;
    return { ...figures, code, seconds, stalled: play.stalled, resets, broken };
  } finally {
    over.abort();
    await gateway.close();
    await emulator.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

function makePlace(root: string, plan: OutagePlan, port: number): Record<string, string | undefined> {
  for (const name of ['repository', 'home', 'tmp', 'ramet']) mkdirSync(join(root, name), { mode: 0o700 });
  const limits = { silenceSeconds: plan.silenceSeconds };
  const settings = { limits, agents: { concurrent: plan.agents, total: plan.agents } };
  writeFileSync(join(root, 'ramet/settings.json'), JSON.stringify(settings));
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-C', join(root, 'repository'), ...args], { stdio: 'ignore' });
  git('init', '-q');
  git(
    '-c',
    'user.name=campaign',
    '-c',
    'user.email=campaign@example.invalid',
    'commit',
    '-q',
    '-m',
    'begin',
    '--allow-empty',
  );
  return {
    PATH: process.env.PATH,
    HOME: join(root, 'home'),
    TMPDIR: join(root, 'tmp'),
    RAMET_HOME: join(root, 'ramet'),
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: 'campaign',
  };
}

async function disturb(gateway: Gateway, plan: OutagePlan, over: AbortSignal): Promise<void> {
  const wait = async (seconds: number): Promise<boolean> => {
    await sleep(seconds * 1_000, undefined, { signal: over }).catch(() => {});
    return !over.aborted;
  };
  const resetting = (async () => {
    while (await wait(plan.resetSeconds)) gateway.reset();
  })();
  if (await wait(plan.afterSeconds)) {
    plan.onNote(`away for ${plan.awaySeconds} s`);
    await gateway.close();
    await wait(plan.awaySeconds);
    await gateway.open();
    plan.onNote('back');
  }
  await resetting;
}

function runCommand(
  cwd: string,
  env: Record<string, string | undefined>,
  executor: string,
): Promise<{ code: number | null; stderr: string }> {
  const args = ['-p', 'go', '--permission-mode', 'bypassPermissions', '--executor', executor];
  const child = spawn(process.execPath, [COMMAND, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr = (stderr + chunk).slice(-4_000);
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr })));
}
