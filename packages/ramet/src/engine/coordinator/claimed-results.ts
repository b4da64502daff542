/**
 * Whether an answer tells results that have not arrived (COORD-2). Only what the engine can know counts: a worker that still
 * runs, or "the workers" while none has reported, is said to have done or found something. Who stands beside the verb decides:
 * "ada found it, and I started bob" says nothing about bob.
 */

export interface OpenWorker {
  readonly id: string;
  readonly name: string | null;
}

const VERBS =
  'found|finds|reported|reports|confirmed|confirms|discovered|identified|fixed|implemented|completed|finished|verified|proved|passed|succeeded|failed|returned|showed|shows|concluded|determined|wrote|added|changed|removed|says|said|is done|are done|has ended|have ended';
/** Right after the name, but for a few words. */
const AFTER = new RegExp(`^(?:\\W+(?!and\\b|or\\b|to\\b|who\\b)[\\w.-]+){0,3}?\\W+(?:${VERBS})\\b`, 'i');
const BEFORE = new RegExp(`(?:\\b(?:${VERBS})\\b[^,;]* by|according to|as reported by)\\W*$`, 'i');

/** What is still to come, or did not happen, is no claim. */
const OPEN =
  /\b(?:will|shall|would|should|could|may|might|can|when|once|after|until|till|before|if|whether|unless|as soon as|to be|going to|about to|wait(?:s|ing)?|await(?:s|ing)?|not|no results?|no reports?|never|yet|still|hasn't|haven't|pending)\b/i;

/** The sentence that claims something; null for none. */
export function claimedResult(
  text: string,
  open: readonly OpenWorker[],
  anyReported: boolean,
): { readonly sentence: string; readonly worker: OpenWorker | null } | null {
  if (open.length === 0) return null;
  for (const sentence of sentencesOf(text)) {
    if (OPEN.test(sentence)) continue;
    const worker = open.find(({ id, name }) =>
      [id, name].some((word) => word !== null && claims(sentence, word)),
    );
    if (worker !== undefined) return { sentence, worker };
    const [all] = /\b(?:the|both|all|my) (?:\w+ )?(?:workers?|agents?)\b/i.exec(sentence) ?? [];
    if (!anyReported && all !== undefined && claims(sentence, all)) return { sentence, worker: null };
  }
  return null;
}

/** Code and quotes of others are no sentences of the answer. */
function sentencesOf(text: string): string[] {
  const plain = text.replace(/```[\s\S]*?(?:```|$)/g, ' ').replace(/^>.*$/gm, ' ');
  return plain
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

/** Whether something is said to have come of `who`, at any of its places in the sentence. */
function claims(sentence: string, who: string): boolean {
  const [text, word] = [sentence.toLowerCase(), who.toLowerCase()];
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const [before, after] = [text.slice(0, at), text.slice(at + word.length)];
    if (/[\p{L}\p{N}_]$/u.test(before) || /^[\p{L}\p{N}_]/u.test(after)) continue;
    if (AFTER.test(after) || BEFORE.test(before)) return true;
  }
  return false;
}
