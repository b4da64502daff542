/**
 * Keys of team memory: relative paths that are one file on every machine. Client and server refuse the same ones, so a
 * key from either side is safe to join to a folder.
 */
import { hasInvisible } from '../../system/text/visible-text.ts';

const LONGEST_KEY_BYTES = 512;
const LONGEST_NAME_BYTES = 200;
const DEEPEST = 16;

/** Our own files in a synchronised folder begin with it. */
const RESERVED = '.ramet-';

/** Why it cannot be a key; null if it can. */
export function keyProblem(key: string): string | null {
  if (key === '') return 'it is empty';
  if (!key.isWellFormed()) return 'it is not UTF-8';
  if (Buffer.byteLength(key) > LONGEST_KEY_BYTES) return `it has more than ${LONGEST_KEY_BYTES} bytes`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffd]/.test(key)) return 'it has control characters';
  if (/[\\:*?"<>|]/.test(key)) return 'it has one of \\ : * ? " < > |';
  if (key !== key.normalize('NFC')) return 'it is not in Unicode form NFC';
  if (key.startsWith('/')) return 'it is an absolute path';
  const names = key.split('/');
  if (names.length - 1 > DEEPEST) return `it is deeper than ${DEEPEST} folders`;
  for (const name of names) {
    const problem = nameProblem(name);
    if (problem !== null) return problem;
  }
  return null;
}

/** Why a key that is new cannot be one, although an old one can; null if it can. */
export function newKeyProblem(key: string): string | null {
  return hasInvisible(key) ? 'it has signs that nobody sees' : null;
}

/** Files of other programs: they are no notes. */
export function isHidden(name: string): boolean {
  return name.startsWith('.');
}

/** Devices, on Windows, whatever their ending. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

function nameProblem(name: string): string | null {
  if (name === '') return 'it has an empty part';
  if (name === '.' || name === '..') return `it has a part "${name}"`;
  if (Buffer.byteLength(name) > LONGEST_NAME_BYTES) return `a part has more than ${LONGEST_NAME_BYTES} bytes`;
  if (/[. ]$|^ /.test(name)) return 'a part begins with a blank, or ends with one or a point';
  if (DEVICE.test(name)) return `"${name}" is a device on some machines`;
  if (name.toLowerCase().startsWith(RESERVED)) return `names that begin with ${RESERVED} are ours`;
  // `.git/config` and `.envrc` make other programs run what they say.
  return isHidden(name) ? 'a part begins with a point' : null;
}

const ASCII = /^[\x20-\x7e]*$/;

/** Equal for keys that are one file where case does not count. */
export function foldedKey(key: string): string {
  if (ASCII.test(key)) return key.toLowerCase();
  return key.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

/** For the address of a request. */
export function keyPath(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/');
}
