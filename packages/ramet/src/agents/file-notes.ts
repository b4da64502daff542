import { THREAD_NOTES } from './thread-notes.ts';

/**
 * What every agent of a definition file is told with its task (PROMPT-1): the file's own prompt knows nothing of the
 * harness. It stands after what agents share, so that it costs no cache.
 */
export const FILE_NOTES: string = `<sub-agent>
- Another agent gave you the task below. You cannot ask it anything; it sees your last message and nothing else, so that message is your report.
- Every command starts in your working directory.
${THREAD_NOTES}
</sub-agent>`;
