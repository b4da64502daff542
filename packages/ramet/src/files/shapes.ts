/** The shapes of files and their changes that other rooms know. Types only: importing it loads nothing. */
export type { FileLedger, LastWrite } from './file-ledger.ts';
export type { CommandChange } from './file-readers.ts';
export type { LoadedPlan, LoadedStep, RestorationSources, RestorationStep, UndoPlan } from './restoration.ts';
