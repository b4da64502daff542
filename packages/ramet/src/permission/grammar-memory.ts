/**
 * Whether V8 may optimise the grammar that judges commands: it would take 500 MB and a second of CPU for nothing. The
 * flags hold for a whole process, so a program that embeds the library decides for itself (docs/permissions.md). Apart
 * from the grammar, so that saying it costs nothing at start.
 */
const FLAGS = ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];

let keepsSmall = false;
let isPrepared = false;

/** For a process that is Ramet's own, before its first command. */
export function keepGrammarSmall(): void {
  keepsSmall = true;
}

/** Called before the grammar is loaded. */
export function prepareForGrammar(): void {
  if (!keepsSmall) return;
  isPrepared = true;
  setFlags(FLAGS);
}

/** V8 takes compiled code only under the flags that it was written with, and the next process starts without ours. */
export function underFirstFlags(work: () => void): void {
  if (isPrepared) setFlags(FLAGS.map((flag) => flag.replace('--no-', '--')));
  try {
    work();
  } finally {
    if (isPrepared) setFlags(FLAGS);
  }
}

function setFlags(flags: readonly string[]): void {
  // Not imported: loading it takes milliseconds, which a session without commands need not spend.
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  for (const flag of flags) setFlagsFromString(flag);
}
