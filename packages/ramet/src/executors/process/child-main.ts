/**
 * The program of an agent's own process (EXEC-2). It lives as long as the line to its host: without one it ends its
 * commands and exits at once.
 */
import { checkProgramsBy } from '../../git/folder-guard.ts';
import { keepGrammarSmall } from '../../permission/grammar-memory.ts';
import { SPOOL_VARIABLE } from './child-program.ts';
import { serveGuest } from './guest.ts';

const GONE = 1;

function connect(): void {
  keepGrammarSmall();
  checkProgramsBy(async (question) => {
    const { untrustedPrograms } = await import('../../extensions/trust/folder-programs.ts');
    return untrustedPrograms(question);
  });
  // Exiting ends the commands: see `process-register.ts`.
  const leave = (): never => process.exit(GONE);
  serveGuest(
    {
      // The end of the line is `disconnect`'s to notice.
      send: (frame) => void process.send?.(frame, undefined, undefined, () => {}),
      onFrame: (take) => void process.on('message', take),
    },
    process.env[SPOOL_VARIABLE] ?? '',
    leave,
  );
  for (const end of ['disconnect', 'SIGTERM', 'SIGINT', 'SIGHUP']) process.on(end, leave);
}

// Started otherwise, such as by the build to warm the compile cache, it only loads.
if (process.send !== undefined) connect();
