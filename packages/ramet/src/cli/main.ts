/** The command's entry: everything it does is in `program.ts`. */
import { processIo } from './io.ts';
import { runProgram } from './program.ts';
import { interruptSignal } from './signals.ts';

const io = processIo(interruptSignal());
process.exitCode = await runProgram(process.argv.slice(2), io);
