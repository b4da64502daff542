import manifest from '../../package.json' with { type: 'json' };
import { UserMistake } from '../schema/errors.ts';

export const VERSION: string = manifest.version;

const NEEDED = 24;

/** The command's launcher says the same before it loads anything; a program that imports the library has no launcher. */
export function refuseOldNode(version: string = process.versions.node): void {
  if (Number.parseInt(version, 10) >= NEEDED) return;
  throw new UserMistake(
    'old_node',
    `ramet needs Node ${NEEDED} or newer, this is ${version}: install Node ${NEEDED}`,
  );
}
