/** What teams and their members may be called: a name finds one of them, is one line, and is no path. */
import { EVERYBODY, LEAD } from '../../schema/team.ts';
import { headOf, visibleLine } from '../../system/text/visible-text.ts';

const LONGEST = 60;

/** They name someone else wherever messages are sent. */
const RESERVED: readonly string[] = [LEAD, 'main', 'user', 'all', EVERYBODY];

/** What engine texts call those who are in no team. */
const OUTSIDE = 'command line';

/** In one name, so that no letter passes for another. */
const LOOK_ALIKE: readonly RegExp[] = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
];

const LIKE_AN_ID = /^\w+\.\d+$/;

/** Two names with one key are the same name. */
export function keyOf(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** Null for a good name. */
export function nameProblem(name: string, whose: 'member' | 'team'): string | null {
  const shown = shownName(name);
  const say = (why: string): string => `${shown} cannot be a ${whose}'s name: ${why}`;
  if (name.trim() === '') return say('it is empty');
  if (name !== name.trim()) return say('it begins or ends with a space');
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)) return say('it has control characters');
  if (name.length > LONGEST)
    return say(`it has ${name.length} characters, and at most ${LONGEST} are allowed`);
  if (/[/\\]/.test(name) || /^\.+$/.test(name)) return say('it is a path');
  const plain = keyOf(name)
    .replace(/[\s._-]+/g, ' ')
    .replace(/^(?:the|an?|my|your) /, '');
  if (RESERVED.includes(plain)) return say(`${RESERVED.join(', ')} are reserved`);
  if (plain === OUTSIDE) return say('it names who writes from outside the team');
  if (LOOK_ALIKE.filter((script) => script.test(name.normalize('NFKC'))).length > 1)
    return say('it mixes alphabets whose letters look alike');
  if (LIKE_AN_ID.test(name)) return say("it looks like an agent's id");
  if (!/^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._-]*$/u.test(name)) {
    return say('use letters, digits, spaces, dots, dashes and underscores, with a letter or digit first');
  }
  return null;
}

/** For a name that nobody has. */
export function unknownName(name: string, known: readonly string[]): string {
  return `nobody here is called ${shownName(name)}; ${known.length === 0 ? 'there is nobody' : `there are ${known.join(', ')}`}`;
}

/** Anybody may have chosen it: one line, of bounded length, with nothing invisible. */
function shownName(name: string): string {
  const head = name.length > LONGEST ? `${headOf(name, LONGEST)}...` : name;
  return `"${visibleLine(head.toWellFormed())}"`;
}
