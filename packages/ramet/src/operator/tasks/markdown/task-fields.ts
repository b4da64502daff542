/** Lines below a task that say something about it: `_Depends: 1.2_`, `- **Files**: src/a.ts`, `Check: npm test`. */

export type FieldName =
  | 'depends'
  | 'files'
  | 'boundary'
  | 'status'
  | 'parallel'
  | 'optional'
  | 'check'
  | 'model'
  | 'type'
  | 'budget'
  | 'max_turns'
  | 'effort'
  | 'review'
  | 'isolation'
  | 'reference'
  | 'criteria';

export interface TaskField {
  name: FieldName;
  value: string;
  /** Where the value begins in the text. */
  valueAt: number;
  /** `Depends` leaves no doubt; "Requires" may be followed by words. */
  sure: boolean;
}

const FIELD = /^[_*]{0,3}([A-Za-z][A-Za-z /_-]{1,30}?)[_*]{0,3}\s?[:\uff1a]\s{0,3}[_*]{0,3}\s{0,3}/;
const NAMES: ReadonlyMap<string, FieldName> = new Map(
  (
    [
      ['depends', 'depends|depends on|dependencies|dependency|depend on|task dependencies'],
      ['depends', 'requires|blocked by|prerequisites|prerequisite|after|needs|predecessors'],
      ['files', 'file|files|touches|path|paths|modifies|target files|files to modify|files to create'],
      ['files', 'files touched|affected files|files changed|file path|creates|files to create/modify'],
      ['boundary', 'boundary|boundaries|scope'],
      ['status', 'status|state'],
      ['parallel', 'parallel|parallelizable|can run in parallel'],
      ['optional', 'optional'],
      ['check', 'check|check command'],
      ['model', 'model'],
      ['type', 'agent type|agent'],
      ['budget', 'budget'],
      ['max_turns', 'max turns|turn limit'],
      ['effort', 'effort'],
      // Never "reviewer" alone, which is a person in most files.
      ['review', 'review type|review types|reviewer type|reviewer types'],
      ['isolation', 'isolation'],
      ['reference', 'requirements|requirement|validates|validates requirements|property|user story|story'],
      [
        'criteria',
        'acceptance|acceptance criteria|done when|definition of done|success criteria|must not|do not',
      ],
      [
        'criteria',
        'prohibitions|prohibited|constraints|out of scope|non-goals|never|verification|exit criteria',
      ],
    ] as const
  ).flatMap(([name, words]) => words.split('|').map((word) => [word, name] as const)),
);
const SURE = /^depend/i;

export function readField(text: string): TaskField | null {
  const found = FIELD.exec(text);
  const word = found?.[1]?.trim().toLowerCase().replaceAll('_', ' ');
  const name = word === undefined ? undefined : NAMES.get(word);
  if (found === null || word === undefined || name === undefined) return null;
  const value = text
    .slice(found[0].length)
    .replace(/[_*]{1,3}\s*$/, '')
    .trim();
  return { name, value, valueAt: found[0].length, sure: SURE.test(word) };
}

const NOTHING =
  /^(?:none|nothing|n\/?a|nil|no|-|\u2013|\u2014|\u306a\u3057|\u7121\u3057|\u7121|keine?|ninguna?|no dependencies.*|\(none\)|\[\])\.?$/i;

export function saysNothing(value: string): boolean {
  return NOTHING.test(value.trim());
}

export function saysYes(value: string): boolean {
  return /^(?:yes|true|y|p|\u2705|\u2713)\b/i.test(value.trim()) || /^[\u2705\u2713]/u.test(value.trim());
}

const CRITERIA =
  /\b(?:acceptance|success (?:criteria|metrics)|definition of done|done when|exit criteria|(?:validation|review|quality|requirements) checklist|quality gates?|prohibit\w*|must not|do not|don'ts?|never|constraints|non-goals|out of scope|completion criteria)\b|\u53d7\u3051\u5165\u308c|\u5b8c\u4e86\u6761\u4ef6|\u9a8c\u6536|\u7981\u6b62/i;

/** A heading or label whose boxes are criteria or prohibitions, not tasks. */
export function namesCriteria(text: string): boolean {
  return CRITERIA.test(text);
}

const PROHIBITION = /^[*_]{0,3}(?:do not|don't|never|must not|no\s\w+ing|avoid|\u7981\u6b62)\b/i;

export function isProhibition(text: string): boolean {
  return PROHIBITION.test(text);
}
