/**
 * Whether what a coordinator hands to a worker can be carried out by one who knows nothing else (COORD-2). Pure: it looks at
 * words, so it is cautious. A delegation comes back only if nearly all its words fit any task, or if it tells the
 * worker to decide what the coordinator should have decided and says little else. One that names no place passes with a note.
 *
 * What is concrete differs in every repository, and no list can hold it. What fits any task does not differ: the everyday words of
 * English and those of programming work. So a text is judged by what is left without them.
 */

const ENDINGS =
  'ts|tsx|js|jsx|mjs|cjs|mts|cts|py|ipynb|go|rs|rb|erb|java|kt|kts|swift|c|cc|cpp|h|hpp|cs|php|ex|exs|hs|ml|lua|zig|dart|jl|r|R|asm|s|sh|ps1|bat|sql|prisma|proto|graphql|html|css|scss|less|svg|vue|svelte|astro|md|mdx|rst|txt|json|jsonc|yml|yaml|toml|ini|cfg|conf|env|xml|xaml|csv|tf|nix|gradle|lock|snap|pem|pdf|bats|example';

const FILES = [
  // A path, with or without an ending.
  /(?<![\w@])(?:\.{0,2}\/)?(?:[\w@.-]+\/)+[\w@.*-]+/g,
  new RegExp(`(?<![\\w/])[\\w@.*-]*[\\w*-]\\.(?:${ENDINGS})(?![\\w/])`, 'g'),
];

/** Pairs of words. */
const NO_FILES = /^(?:and|either|yes|on|in|read|input|client|server|request|front-?end)\/\w+$/i;

/** The files that a text names, once each. */
export function namedFiles(text: string): string[] {
  const all = FILES.flatMap((pattern) => text.match(pattern) ?? []).map((file) => file.replace(/\.+$/, ''));
  return [...new Set(all)].filter((file) => !NO_FILES.test(file));
}

const EVERYDAY = [
  'a about above across after again against all along already also always am among an and another any',
  'anybody anything are around as ask at be because become been before behind being below beside',
  'between both but by came can cannot come could did do does doing done during each else even ever',
  'every everybody few for from get give given go going gone got had has have having he her here his',
  'how i if in instead into is it its just keep kept know known last least less let like look made make',
  'making many may me might more most much must my need never no none nor not nothing now of off on',
  'once only onto or other our out over own past per please put said same say see seem seen shall she',
  'should since so some still such sure take taken tell than that the their them then there these they',
  'think this those thought to told too toward try turn under until up us use used using very via want',
  'was we well were what whatever when where which while who whom whose why will with within without',
  'work would yet you your',
];

/** Beginnings of words: `improv` stands for improve, improving and improvements. */
const WORK = [
  'accord accordingly adapt add address adjust agree ahead app application approach appropriate',
  'architect architecture backend bad base believe best better big break bring broken bug build call',
  'care case change check choos chosen class clean clear client code codebase commit complet component',
  'conclu condition consisten consumption context continu convention conversation correct cover creat',
  'current database day decid deliver dependen design develop discuss document easier easy edge effect',
  'efficien end ensur error everything everywhere exception expect explor fail fast feature file find',
  'fine finish first fix flaky follow found framework frontend function further general good guideline',
  'handl help idea identif implement improv increas information interface investigat issue item job',
  'kind knowledge learn list logic long maintain manner memory method missing modern modify module move',
  'necessar new next nice old optim optimis option overall part path perform plan point possible',
  'practice problem proceed process product project proper propos prove quality question quick read',
  'readable recommend reduc refactor relevant reliab remain rename repair replac report repository',
  'request requir research rest result review right robust run safe second section secure sensible',
  'separate server several simple simplif size slow solution solv something specific stabl start state',
  'step structur style suggest support synthesis system tak task team test thing third thorough through',
  'time tool type understand update valu variable various version way whole write written wrong',
];

const ENDS = 'e|s|es|d|ed|r|er|ing|ly|ment|ments|ion|ions|ation|ations|y|ies|ied|ance|ant|ful';

/** Everyday words as they stand: `them` is no beginning of `theme`. */
const FITS_ANY_TASK = new RegExp(
  `^(?:${EVERYDAY.join(' ').replaceAll(' ', '|')}|(?:un|in|re)?(?:${WORK.join(' ').replaceAll(' ', '|')})(?:${ENDS})?)$`,
);

/** What is certainly a name: code in backticks, a call, a flag, `two_words`, `twoWords`. */
const NAME = /`|\w_\w|\w\(|::|(?<!\w)--?[a-z]|\b[a-z]+[A-Z]/;

/** No word of English: a name, a path, a value, a quotation. */
const CODE = /[_$`"\u201c(={}<>@\\]|\w[.:#]\w|^-|^#|[a-z][A-Z]|\d/;

function wordsOf(text: string): string[] {
  return text
    .split(/[\s/,;]+/)
    .map((word) => word.replace(/^['\u2018([]+/, '').replace(/['\u2019)\].!?:]+$/, ''));
}

/** How much a text says that does not fit any task, word by word; what looks like code says more. */
function substance(text: string): number {
  return [...new Set(wordsOf(text))].reduce((sum, word) => sum + weightOf(word), 0);
}

function weightOf(word: string): number {
  if (/^[a-z]?\d+$/i.test(word)) return 1;
  if (CODE.test(word)) return 2;
  const plain = word.toLowerCase().replace(/['\u2019].*$/, '');
  return /[a-z]/.test(plain) && !FITS_ANY_TASK.test(plain) ? 1 : 0;
}

/**
 * Without a name, a short text needs two words that do not fit any task, and a long one more: a fourth of its words, less one.
 * In any long text some words are unusual.
 */
function fitsAnyTask(text: string): boolean {
  return substance(text) < Math.max(2, wordsOf(text).length / 4 - 1);
}

/** What a text must say beside a phrase that leaves the conclusion to the worker. */
const SPELLED_OUT = 7;

const LEARNED =
  '(?:findings?|research|analysis|investigation|exploration|results?|reports?|conclusions?|recommendations?|knowledge|insights?|observations?|information)';
const FOUND =
  '(?:found|discovered|identified|learn(?:ed|t)|saw|seen|uncovered|noticed|reported|proposed|suggested|recommended|determined|concluded)';

/** The worker is to know, or to decide, what the coordinator had to. */
const PUSHES: readonly RegExp[] = [
  new RegExp(
    `\\b(?:based|building|relying|acting|drawing) (?:up)?on (?:all )?(?:your|the|our|these|those|their|its|what|everything)\\b[^.;:]{0,40}?(?:${LEARNED}|${FOUND}|conversation|discussion|discussed)`,
    'i',
  ),
  new RegExp(
    `\\b(?:according to|in line with|per|following|given|with|from) (?:your|the|these|those|their)(?: own)?(?: \\w+)? ${LEARNED}\\b`,
    'i',
  ),
  new RegExp(
    `\\b(?:use|using|take|apply|follow|implement|consider|look at) (?:your|the|all|these|those)(?: own)?(?: \\w+)? ${LEARNED}\\b`,
    'i',
  ),
  new RegExp(
    `\\b(?:as|what|whatever|that|which|everything|all|from what) you(?:['\u2019]ve| have)?(?: just| already)? ${FOUND}`,
    'i',
  ),
  new RegExp(
    `\\b(?:issues?|problems?|bugs?|errors?|cause|fix|fixes|changes?|solution|approach|things?) (?:that |which )?(?:you|the research|the workers?|they)(?:['\u2019]ve| have| has)? ${FOUND}`,
    'i',
  ),
  /\b(?:as you (?:see fit|think)|you think (?:is|are) (?:best|right)|(?:choose|decide) (?:what|which|the best|on the))/i,
  new RegExp(`\\bthe (?:\\w+ )?(?:workers?|research(?:ers?)?) (?:(?:has|have) )?${FOUND}`, 'i'),
  new RegExp(`\\byour (?:own )?${LEARNED} (?:sounds?|looks?|seems?|is|are|was|were)\\b`, 'i'),
  /\b(?:use|trust|to) your (?:own |best )?judge?ment\b/i,
];

export interface Delegation {
  readonly prompt: string;
  /** What the call says must come of it: files and a command are as concrete as words. */
  readonly expected?: readonly string[] | undefined;
}

/** `missing`: why it comes back. `note`: goes with one that passes. Null for nothing. */
export interface DelegationJudgement {
  readonly missing: string | null;
  readonly note: string | null;
}

/** `mustName`: it must name something concrete, as in implementation. */
export function judgeDelegation(
  { prompt, expected = [] }: Delegation,
  mustName: boolean,
): DelegationJudgement {
  const push = PUSHES.map((pattern) => pattern.exec(prompt)?.[0]).find((text) => text !== undefined);
  if (push !== undefined && substance(prompt.replace(push, ' ')) < SPELLED_OUT) return missing(pushed(push));
  if (!mustName || expected.length > 0 || namedFiles(prompt).length > 0 || NAME.test(prompt)) return FINE;
  return fitsAnyTask(prompt) ? missing(NOTHING_CONCRETE) : { missing: null, note: NO_PLACE };
}

export const FINE: DelegationJudgement = { missing: null, note: null };

function missing(what: string): DelegationJudgement {
  return { missing: what, note: null };
}

function pushed(phrase: string): string {
  return `"${phrase.slice(0, 80)}" leaves the conclusion to the worker. Draw it yourself and write it down: which file and symbol, what is wrong there, what to write instead, how to prove it`;
}

const NOTHING_CONCRETE =
  'it names nothing concrete: its words fit any task. Say where to work, what to change there, and which command proves it';

const NO_PLACE =
  'Note: this names no file, symbol or command. If you know where to work, tell the worker with SendMessage.';
