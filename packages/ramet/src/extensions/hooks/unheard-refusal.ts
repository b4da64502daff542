/**
 * A no of a hook in words that nobody here understands: of another tool, or with a mistake. It must not pass as a yes in silence, so
 * such an answer is a failure, which a person sees, and which a guard that ended well before may not have (SEC-1). Around calls every
 * field that is not known is taken for one, unless its value says yes or nothing: no list has all words.
 */
import { stripVTControlCharacters } from 'node:util';

/** Fields that say no by a word, those that say it by being true, or false, and those that say it by a number. */
const BY_WORD =
  /^(?:permission_?)?(?:permission|decision|behaviou?r|verdict|result|action|status|outcome|response|type|effect)$/i;
const BY_TRUE =
  /^(?:is_?|should_?)?(?:den(?:y|ied)|block(?:ed)?|reject(?:ed)?|refused?|forbidden|cancel(?:l?ed)?|abort(?:ed)?|stop|halt)$/i;
const BY_FALSE =
  /^(?:is_?|should_?)?(?:continue|allow(?:ed)?|approved?|ok|permit(?:ted)?|proceed|safe|valid)$/i;
const BY_NUMBER = /^exit_?(?:code|status)$/i;
const NO = /^(?:den(?:y|ied)|block(?:ed)?|reject(?:ed)?|refused?|forbid(?:den)?|disallow(?:ed)?|ask|no)$/i;
const YES =
  /^(?:allow(?:ed)?|approved?|accept(?:ed)?|permit(?:ted)?|ok(?:ay)?|pass(?:ed)?|success|continue|proceed|yes|true|none|safe|valid|clean|done)$/i;
/** What the call is or is to have: no answer about it. */
const CONTENT: ReadonlySet<string> = new Set([
  ...['updatedInput', 'updatedToolOutput', 'updatedMCPToolOutput', 'tool_input', 'tool_response'],
]);
const DEEPEST = 3;

/** The field that seems to say no; null for none. For an answer in which nothing that says so was understood. */
export function refusingField(value: unknown): string | null {
  return fieldIn(value, isNo);
}

/** A field or one in it, `decision.type`. */
function fieldIn(value: unknown, isMeant: (name: string, one: unknown) => boolean, depth = 0): string | null {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return null;
  for (const [name, one] of Object.entries<unknown>({ ...value })) {
    if (CONTENT.has(name)) continue;
    if (isMeant(name, one)) return name;
    const inner = fieldIn(one, isMeant, depth + 1);
    if (inner !== null) return `${name}.${inner}`;
  }
  return null;
}

function isNo(name: string, value: unknown): boolean {
  const text = String(value);
  if (typeof value === 'string' && BY_WORD.test(name) && NO.test(value)) return true;
  return (
    (BY_TRUE.test(name) && /^(?:true|yes|1)$/i.test(text)) ||
    (BY_FALSE.test(name) && /^(?:false|no|0)$/i.test(text)) ||
    (BY_NUMBER.test(name) && /^-?[1-9]\d*$/.test(text))
  );
}

/** Of the public convention. What each says is read elsewhere, or changes nothing. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['continue', 'stopReason', 'suppressOutput', 'systemMessage', 'terminalSequence', 'decision', 'async'],
  ...[
    'asyncTimeout',
    'hookSpecificOutput',
    'hookEventName',
    'permissionDecision',
    'permissionDecisionReason',
  ],
  ...['additionalContext', 'behavior', 'interrupt', 'updatedPermissions', 'classifierContext', 'retry'],
  ...['suppressOriginalPrompt', 'sessionTitle', 'watchPaths', 'reloadSkills', 'initialUserMessage'],
]);

/** There was none of it. */
const BAD =
  /^(?:is_?|has_?)?(?:errors?|failed|failure|dangerous|unsafe|violations?|warnings?|changed|modified|cached|dry_?run)$/i;

/** What a hook reads: some print it again. */
const READ: ReadonlySet<string> = new Set([
  ...['session_id', 'transcript_path', 'cwd', 'hook_event_name', 'permission_mode', 'effort', 'agent_id'],
  ...['agent_type', 'agent_transcript_path', 'tool_name', 'tool_use_id', 'mcp_server', 'prompt_id'],
  ...['permission_suggestions', 'session_title'],
]);

/** Notes of a hook for its own log. Their texts may still begin with a no. */
const NOTE =
  /^(?:messages?|msg|info|notes?|log|level|timestamp|time|date|ts|duration(?:_?ms)?|elapsed(?:_?ms)?|version|hook(?:_?name)?|name|id|source)$/i;

/** The field around a call that is not known and says neither yes nor nothing; null for none. */
export function unknownField(value: unknown, depth = 0): string | null {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return null;
  for (const [name, one] of Object.entries<unknown>({ ...value })) {
    if (CONTENT.has(name) || READ.has(name)) continue;
    const isEntry = Array.isArray(value);
    const own = isEntry ? '' : name;
    if (typeof one === 'object' && one !== null) {
      const inner = unknownField(one, depth + 1);
      if (inner !== null) return own === '' ? inner : inner === '' ? own : `${own}.${inner}`;
    } else if (!KNOWN.has(name) && !isHarmless(name, one)) return own;
  }
  return null;
}

function isHarmless(name: string, value: unknown): boolean {
  if (isNo(name, value)) return false;
  if (value === null || value === '' || value === 0) return true;
  if (typeof value === 'boolean')
    return value ? BY_FALSE.test(name) || YES.test(name) : BY_TRUE.test(name) || BAD.test(name);
  if (typeof value === 'string' && YES.test(value)) return true;
  return NOTE.test(name) && refusingLine(String(value)) === null;
}

/** The line of a text that seems to say no; null for none. */
export function refusingLine(text: string): string | null {
  const lines = stripVTControlCharacters(text)
    .split('\n')
    .map((line) => line.trim());
  return lines.find((line) => SAYS_NO.test(line) || refusingField(jsonIn(line)) !== null) ?? null;
}

/** `"deny"`, `DENIED: no curl here`, `ERROR: blocked`, `This command is not allowed` */
const SAYS_NO =
  /^\W*(?:(?:error|fatal|access|permissions?|request|command|operation|action|tool|call|use|execution|hook|guard|policy|security|the|this|is|was|has|been)\W+){0,6}(?:deny|denied|block|blocked|reject|rejected|refuse|refused|forbidden|not (?:allowed|permitted))\b(?!\w)/i;

function jsonIn(line: string): unknown {
  if (!/^[[{]/.test(line)) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

const TOKENS = /"(?:\\.|[^"\\])*"(\s*:)?|[{}[\]]/g;

/** A field that an object of this valid JSON has twice: of two answers, only the last would count. Null for none. */
export function doubleField(json: string): string | null {
  const open: { readonly seen: Set<string>; last: string; readonly isContent: boolean }[] = [];
  for (const [token, colon] of json.matchAll(TOKENS)) {
    const here = open.at(-1);
    if (token === '{' || token === '[') {
      const isContent = here !== undefined && (here.isContent || CONTENT.has(here.last));
      open.push({ seen: new Set(), last: '', isContent });
    } else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined && here !== undefined && !here.isContent) {
      here.last = String(JSON.parse(token.slice(0, -colon.length)));
      if (here.seen.has(here.last)) return here.last;
      here.seen.add(here.last);
    }
  }
  return null;
}
