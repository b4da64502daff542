/**
 * What programs that a part starts load by themselves: no word of a command names it, so it is shown to who trusts the part. It is no
 * reason to ask again, and stops nothing.
 */
import { commandReach } from './command-reach.ts';
import { commandsOf } from './commands-in.ts';
import { atFolder, type FolderPart, folderOf } from './folder-part.ts';

/** One line for each command. */
export function partLoads(part: FolderPart, root: string): string[] {
  const { folder } = part;
  return commandsOf(part).flatMap(({ texts, isRough, answers }) => {
    if (isRough) return [];
    const placed = folder === undefined ? texts : texts.map((text) => atFolder(text, folder));
    const { loads, unclear } = commandReach(placed, root, [root, folderOf(part.source)], answers);
    return loads.length === 0 || unclear !== null
      ? []
      : `${texts.join(' ')} (what ${loads.join(', ')} loads)`;
  });
}
