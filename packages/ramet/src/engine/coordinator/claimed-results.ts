/**
 * Whether an answer tells results that have not arrived (COORD-2). Only what the engine can know counts: it names a worker
 * that still runs, or "the workers" while none has reported, and says in the same sentence that something came of it.
 */

export interface OpenWorker {
  readonly id: string;
  readonly name: string | null;
}

const CLAIM =
  /\b(?:found|finds|reported|reports|confirmed|confirms|discovered|identified|fixed|implemented|completed|finished|verified|passed|succeeded|failed|returned|showed|shows|concluded|determined|wrote|added|changed|removed|says|said|is done|are done|has ended|have ended)\b/i;

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
    if (!CLAIM.test(sentence) || OPEN.test(sentence)) continue;
    const worker = open.find((one) => names(sentence, one));
    if (worker !== undefined) return { sentence, worker };
    if (!anyReported && /\b(?:(?:the|both|all|my) )(?:\w+ )?(?:workers?|agents?)\b/i.test(sentence))
      return { sentence, worker: null };
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

function names(sentence: string, { id, name }: OpenWorker): boolean {
  return [id, name].some((word) => word !== null && isWord(sentence, word));
}

function isWord(sentence: string, word: string): boolean {
  const at = sentence.toLowerCase().indexOf(word.toLowerCase());
  if (at === -1) return false;
  const around = [sentence[at - 1] ?? ' ', sentence[at + word.length] ?? ' '];
  return around.every((sign) => !/[\p{L}\p{N}_]/u.test(sign));
}
