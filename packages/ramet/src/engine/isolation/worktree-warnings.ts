/**
 * What the user is told of an agent's own worktree. Whether a sandbox holds its commands (WORK-9) takes a process to
 * find out: requests of agents that start together go first, and it is told at the latest when the agent has ended.
 */
import type { Agent } from '../agent/agent.ts';

/** By then those who start together have asked; commands come after the first answer, and wait for it anyway. */
const TRIAL_AFTER_MS = 100;

export interface WorktreeWarnings {
  /** Finds out now what is not known yet; resolves when everything is told. */
  tellRest(): Promise<void>;
}

export function worktreeWarnings(
  { directory, runtime }: Pick<Agent, 'directory' | 'runtime'>,
  tell: (code: string, message: string) => void,
): WorktreeWarnings {
  const { workspace, isOwn } = directory;
  if (!isOwn) return NOTHING;
  for (const message of workspace?.warnings ?? []) tell('worktree_incomplete', message);
  const early = new AbortController();
  let told: Promise<void> | null = null;
  const tellRest = (): Promise<void> => {
    early.abort();
    told ??= runtime.sandbox.isolationNotice().then((message) => {
      if (message !== null) tell('no_sandbox', message);
    });
    return told;
  };
  void runtime.clock.sleep(TRIAL_AFTER_MS, early.signal, { keepsAlive: false }).then(tellRest);
  return { tellRest };
}

const NOTHING: WorktreeWarnings = { tellRest: () => Promise.resolve() };
