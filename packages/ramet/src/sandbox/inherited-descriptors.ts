/**
 * What started this process may have left it open files and directories: `exec 200> lock; flock 200; ramet ...`. Through
 * a directory of the host a command in a sandbox could write, a file could be opened again for writing, and a lock would
 * be held by whatever the command leaves behind. Node keeps such descriptors to itself up to the first gap after 15; here
 * the others are closed.
 */
import { readdirSync, readFileSync } from 'node:fs';

const O_CLOEXEC = 0o2000000;

/** Input, output, errors, and what the sandboxes hand over: Node sets these for each program. */
const SET_BY_NODE = 5;

let inherited: readonly number[] | undefined;

/** How the program is started without them. */
export function startClean(
  program: string,
  words: readonly string[],
): { readonly program: string; readonly arguments: string[] } {
  inherited ??= inheritedDescriptors();
  if (inherited.length === 0) return { program, arguments: [...words] };
  const script = `exec ${inherited.map((each) => `${each}>&-`).join(' ')}; exec "$@"`;
  // Privileged: it reads no file that a variable names, and takes no function from the environment.
  return { program: 'bash', arguments: ['-p', '-c', script, 'bash', program, ...words] };
}

function inheritedDescriptors(): number[] {
  return readdirSync('/proc/self/fdinfo').flatMap((name) => {
    try {
      const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, 'utf8'))?.[1];
      const stays = flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) !== 0;
      return stays || Number(name) < SET_BY_NODE ? [] : [Number(name)];
    } catch {
      return []; // The one by which the list itself was read is gone.
    }
  });
}
