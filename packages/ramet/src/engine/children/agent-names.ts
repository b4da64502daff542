/** What agents may be called: a name finds one agent, and never another one's id. */
import { UserMistake } from '../../schema/errors.ts';
import type { AgentFamily } from './family.ts';

const RESERVED: ReadonlySet<string> = new Set(['main', 'lead', 'all', '*']);
/** Who is called like another one's id would get its messages. */
const LIKE_AN_ID = /^\w+\.\d+$/;

export function refuseBadName(name: string | undefined): void {
  if (name === undefined) return;
  if (!RESERVED.has(name) && /^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u.test(name) && !LIKE_AN_ID.test(name)) return;
  throw new UserMistake(
    'bad_name',
    `"${name}" cannot be an agent's name: use letters, digits, spaces, dots, dashes; not an id, nor ${[...RESERVED].join(', ')}`,
  );
}

export function refuseTakenName(family: AgentFamily, name: string | undefined): void {
  const holder = name === undefined ? undefined : family.findHandle(name);
  if (holder !== undefined)
    throw new UserMistake(
      'name_taken',
      `the name "${name}" is taken by the running agent ${holder.id}: choose another`,
    );
}
