/** A session of the library in a temporary place, on the model that a server of the benchmarks plays. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSession, type Session, type SessionOptions } from 'ramet';
import type { BenchPlace } from './command.ts';

/** Nobody is to wait for a cap. */
const RAISED: NonNullable<SessionOptions['settings']> = {
  agents: { concurrent: 100_000, total: 1_000_000 },
  limits: { concurrentRequests: 100_000 },
};

export function openBenchSession(
  place: Pick<BenchPlace, 'repository' | 'freshHome'>,
  url: string,
  options: SessionOptions = {},
  open: typeof openSession = openSession,
): Promise<Session> {
  return open({
    cwd: place.repository,
    env: benchEnvironment(url, place.freshHome()),
    permissionMode: 'bypassPermissions',
    settings: RAISED,
    ...options,
  });
}

export function benchEnvironment(url: string, home: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: home,
    RAMET_HOME: join(home, 'ramet'),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'bench',
  };
}

/** Carries out a prompt, its events taken and dropped; throws when it does not end well. */
export async function runPrompt(session: Session, prompt: string): Promise<void> {
  const events = session.run(prompt);
  for (;;) {
    const next = await events.next();
    if (!next.done) continue;
    const { status, message } = next.value;
    if (status !== 'done') throw new Error(`the run ended ${status}: ${message}`);
    return;
  }
}

export function forgetHome(env: NodeJS.ProcessEnv): void {
  rmSync(env.HOME ?? '', { recursive: true, force: true });
}
