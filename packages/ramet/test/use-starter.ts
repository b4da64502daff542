/** Runs before each test file of the sources. */
import { useStarter } from './worker-starter.ts';

useStarter();
