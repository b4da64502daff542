/** Undoing what agents wrote: loaded when it is asked for. */
export { createOriginalFiles } from './original-files.ts';
export { planRedo, planUndo } from './restoration.ts';
export { restoreFiles } from './restore-files.ts';
