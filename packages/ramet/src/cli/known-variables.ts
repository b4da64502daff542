/**
 * Every variable of the environment that begins with RAMET_ and means something. Another one is most likely misspelt, and
 * whoever set it believes that it does something.
 */

/** For users. */
const SETTINGS =
  'RAMET_HOME RAMET_PROVIDER RAMET_MAX_RETRIES RAMET_CONTEXT_WINDOW RAMET_CHILD_ENV RAMET_STRICT_PREFIX RAMET_MANAGED_DIR ' +
  'RAMET_MODEL_HAIKU RAMET_MODEL_SONNET RAMET_MODEL_OPUS RAMET_MODEL_FABLE';

/** What Ramet sets for programs of agents, and its tests for themselves. */
const INTERNAL =
  'RAMET_AGENT RAMET_TASK RAMET_WORKTREE RAMET_SLOT RAMET_PORT_BASE RAMET_CHECKOUT RAMET_CHECKOUT_STATE RAMET_REAL_GIT ' +
  'RAMET_GIT_HELPER RAMET_GIT_LOCK RAMET_GIT_PLAIN_DIFF RAMET_TRAILERS RAMET_SPOOL RAMET_TEST_SANDBOX RAMET_TEST_MANNER ' +
  'RAMET_TOKEN RAMET_SERVER_TOKEN RAMET_MEMORY_KEY_FILE';

export const KNOWN_VARIABLES: readonly string[] = [...SETTINGS.split(' '), ...INTERNAL.split(' ')];

/** One line for each variable that means nothing. */
export async function unknownVariables(env: Readonly<Record<string, string | undefined>>): Promise<string[]> {
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('RAMET_') && !KNOWN_VARIABLES.includes(name),
  );
  if (unknown.length === 0) return [];
  const { nearWord } = await import('./near-word.ts');
  return unknown.map((name) => {
    const meant = nearWord(name, SETTINGS.split(' '));
    return `the variable ${name} means nothing to Ramet${meant === null ? '' : `: did you mean ${meant}?`}`;
  });
}
