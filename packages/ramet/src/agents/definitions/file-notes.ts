import { THREAD_NOTES } from '../prompts/thread-notes.ts';

/**
 * Sent with the task to every agent that a definition file describes (PROMPT-1): the file's own prompt knows nothing
 * about the harness. It comes after what agents share, so it costs no cache.
 */
export const FILE_NOTES: string = `<sub-agent>
- Another agent gave you the task below. You cannot ask it anything. It sees only your last message, so that message is your report.
- Every command starts in your working directory.
${THREAD_NOTES}
</sub-agent>`;
