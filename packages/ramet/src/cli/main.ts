/** The command's entry: everything it does is in `program.ts`. */
import { keepGrammarSmall } from '../permission/grammar-memory.ts';
import { EXIT, interruption, processIo, unknownVariables } from './io.ts';
import { runProgram } from './program.ts';

// No `await` at the top: the bundle is a script, which has none (scripts/bundle.ts).
async function main(): Promise<void> {
  keepGrammarSmall();
  // Stands when the event loop runs dry before the command has ended: a bug, which must not look like success.
  process.exitCode = EXIT.failed;
  const ranDry = (): void =>
    console.error(
      'ramet: nothing is left to wait for, and the command has not ended: this is a bug in Ramet',
    );
  process.once('beforeExit', ranDry);
  let outputLost = false;
  const io = processIo(interruption(), () => {
    outputLost = true;
    process.exitCode ||= EXIT.failed;
  });
  const args = process.argv.slice(2);
  // A shell that completes a word shows what it is told.
  if (args[0] !== 'complete') for (const line of unknownVariables(io.env)) io.note(line);
  const exitCode = await runProgram(args, io);
  process.off('beforeExit', ranDry);
  process.exitCode = outputLost ? exitCode || EXIT.failed : exitCode;
}

void main();
