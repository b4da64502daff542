/** What says about a random word that everybody may know it: digests, commits, ids, addresses, images, keys that are public. */

export interface LineAround {
  readonly before: string;
  readonly line: string;
  readonly after: string;
  /** Where the word is in its line. */
  readonly at: number;
  readonly end: number;
  /** The part of the line that is one sentence with it, without the word. */
  readonly sentence: string;
}

/** Right before it, with at most two words between. */
const DIGEST_BEFORE =
  /\b(?:sha-?\d{0,3}|md5|blake\w{0,3}|h1|integrity|base64|finger ?prints?|digests?|cipher_?text|thumbprint|hash(?:es)?|checksums?|etag|uuid|guid|nonce|salt|iv|kid|resolved|\w*_?id|contract|wallet)(?:\s+\w{1,12}){0,2}[-:=,\s"'`([*#@]{0,6}$/i;
/** The same of digits of sixteen. */
const OBJECT_BEFORE =
  /\b(?:crc\d{0,2}|commit(?:s|ted)?|revisions?|rev|trace|span|request|build|images?|container|layer|tree|blob|object|parent|merged?|revert(?:s|ed)?|cherry-pick(?:ed)?|fix(?:e[sd])?|introduced|broken?|landed|backported|rebased|pinned|since|bisect|HEAD|branch|tag|version|address|serial|until|before|after)(?:\s+\w{1,12}){0,2}[-:=,\s"'`([*#@]{0,6}$/i;
/** Part of an address, a path, a file name, a call; 0x as contracts have it. */
const PART_BEFORE = /(?:[\w)]:\/\/\S*|[.@$#&?\\/]|\bsha\d{3}[-:]|\/\S*)$/i;
const PART_AFTER = /^(?:[@%(]|\.[A-Za-z])/;
/** `4b82... fix(parser): ...`, `4b82...  file.tar.gz`, `4b82... *file`. */
const TITLE_AFTER = /^[\s"'`)]{1,4}(?:\(?#\d|[a-z]{2,12}(?:\([^()]{1,40}\))?!?: |\*?\S+\.[a-z]\w{0,9}\s*$)/;
/** A time of day. */
const LOGGED = /^\W{0,3}(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\w{3} +\d+ \d\d:\d\d:\d\d|\S+ \S+ \S+ \[\d\d\/)/;
const COIN_ADDRESS = /^(?:[13][1-9A-HJ-NP-Za-km-z]{25,34}|bc1[a-z0-9]{39,59})$/;
const PUBLIC_LINE =
  /sha-?\d|md5|blake|digest|checksum|hash|integrity|finger|etag|nonce|signature|public|\bpub|cert|ssh-|ecdsa|https?:|data:|base64|\buuid|commit|resolved|\bh1:|import |require\(|"[nxye]"\s*:|(?<![\w"'])[nxye]\s?[:=]\s?["']|class=|href|src=|\bd=/i;
/** A line of an encoded block: nothing but the alphabet of base64. */
const BLOCK_LINE = /^[ \t>|"'+*#/]{0,20}[A-Za-z0-9+/]{40,}={0,2}["',+\\n]{0,4}\s*$/;
const PUBLIC_KEY =
  /ssh-(?:rsa|dss|ed25519)|ecdsa-sha2|public key|PUBLIC|-----BEGIN CERT|"(?:kty|integrity|resolved)"/;

/** Whatever else its sentence says. */
export function isPublicBeside({ line, at, end, before, after }: LineAround): boolean {
  const [left, right] = [line.slice(Math.max(0, at - 120), at), line.slice(end, end + 60)];
  const word = line.slice(at, end);
  if (PART_BEFORE.test(left) || PART_AFTER.test(right) || DIGEST_BEFORE.test(left)) return true;
  if (COIN_ADDRESS.test(word) && /bitcoin|btc|wallet|address/i.test(line)) return true;
  if (/^(?:sha\d{1,3}|md5)[-=]/i.test(word) || PUBLIC_KEY.test(line) || LOGGED.test(line)) return true;
  if (/^(?:0x)?[0-9a-f]+$/i.test(word) && isObject(word, left, right)) return true;
  if (BLOCK_LINE.test(before) || (BLOCK_LINE.test(line) && BLOCK_LINE.test(after))) return true;
  return isListed(line, at, end, before) || isListed(line, at, end, after);
}

function isObject(word: string, left: string, right: string): boolean {
  return word.startsWith('0x') || OBJECT_BEFORE.test(left) || TITLE_AFTER.test(right);
}

/** The line beside it has such a word in the same place: a list of digests or commits. */
function isListed(line: string, at: number, end: number, other: string): boolean {
  const word = line.slice(at, end);
  return /^[0-9a-f]{32,}$/i.test(word) && /^[0-9a-f]{32,}$/i.test(other.slice(at, end));
}

export function isPublicLine({ line, before, at, end }: LineAround): boolean {
  return PUBLIC_LINE.test(`${line.slice(0, at)} ${line.slice(end)}`) || PUBLIC_LINE.test(before);
}
