/** What the servers of a session need of it: where they run, what they may see, and who is asked. */
import { randomUUID } from 'node:crypto';
import type { PoolParts } from '../../extensions/mcp/pool.ts';
import type { Clock } from '../../schema/clock.ts';
import type { Settings } from '../../settings/settings.ts';
import { childEnvironment, forTrustedCommand, withoutOwnPrograms } from '../../system/child-environment.ts';
import {
  AGENT_VARIABLE,
  createProcessRegister,
  processDirectory,
} from '../../system/processes/process-register.ts';
import type { Place } from '../place.ts';
import { VERSION } from '../version.ts';

interface PoolGround {
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Settings;
  readonly clock: Clock;
  /** Passes a server's question on; without it every question is declined. */
  readonly elicit?: PoolParts['elicit'] | undefined;
  warn?(message: string): void;
}

export function poolParts({ cwd, home, project }: Place, ground: PoolGround): PoolParts {
  const { env, settings, clock, elicit } = ground;
  // Servers belong to no agent: this names them in the notes that the next start ends orphans by.
  const owner = `mcp-${randomUUID()}`;
  const register = createProcessRegister(processDirectory(project), (message) => ground.warn?.(message));
  const { startSeconds, callSeconds } = settings.mcp ?? {};
  return {
    cwd,
    home,
    environment: {
      ...forTrustedCommand(withoutOwnPrograms(childEnvironment(env, settings.env?.childVariables), cwd)),
      [AGENT_VARIABLE]: owner,
    },
    processes: { expect: () => register.expect(owner), enter: (group) => register.enter(group, owner) },
    clock,
    version: VERSION,
    elicit: elicit ?? (async () => ({ action: 'decline' })),
    ...(startSeconds !== undefined && { startMs: startSeconds * 1_000 }),
    ...(callSeconds !== undefined && { callMs: callSeconds * 1_000 }),
  };
}
