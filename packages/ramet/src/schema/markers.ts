/**
 * Words by which the engine's own parts of a conversation are known again: by the recipe model, which must not take
 * them for a task, and by whoever quotes text of others, which must not contain them.
 */

/** Opens the last block of a fork's first message: its own task. */
export const FORK_TASK = '<fork-task>';

/** The element that tells how a background agent ended. */
export const TASK_NOTIFICATION = 'task-notification';

/** The elements around a folder's instructions and around what is known of the place an agent works in. */
export const PROJECT_INSTRUCTIONS = 'project-instructions';
export const ENVIRONMENT = 'environment';

/** The element that quotes what another agent, or the user, says to a running one. */
export const AGENT_MESSAGE = 'agent-message';
