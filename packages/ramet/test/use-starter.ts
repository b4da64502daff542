/** Runs before each test file that starts programs. */
import { useStarter } from './worker-starter.ts';

useStarter();
