/** What one hook answers: its exit code and output, or the value of a function, read as the convention has it. */
import { cut, Fields } from './answer-fields.ts';
import type { HookElicited } from './elicited-answer.ts';
import { isObject } from './hook-config.ts';
import { type HookEventName, hookEventKind } from './hook-event.ts';
import { type HookProcessEnd, isLeft } from './run-hook-command.ts';
import { doubleField, refusingField, refusingLine, unknownField } from './unheard-refusal.ts';

export type HookDecision = 'allow' | 'ask' | 'deny';

export interface HookReply {
  readonly decision?: HookDecision | undefined;
  /** Of the decision. */
  readonly reason?: string | undefined;
  /** The whole input of the call, instead of the one that it has. */
  readonly updatedInput?: Record<string, unknown> | undefined;
  readonly updatedOutput?: string | undefined;
  /** Told to the model. */
  readonly context?: string | undefined;
  /** What was about to happen does not; the reason is told to who asked for it. */
  readonly block?: string | undefined;
  /** The run ends; why. */
  readonly stop?: string | undefined;
  /** Of a hook that makes worktrees: where it made one. */
  readonly path?: string | undefined;
  /** What a server that asks a person is told. */
  readonly answer?: HookElicited | undefined;
  /** What lists are to call the session. */
  readonly title?: string | undefined;
  /** Said to the model before the first prompt, as if the user had. */
  readonly opening?: string | undefined;
  /** For the user. */
  readonly message?: string | undefined;
}

/**
 * A reply, or how the hook failed: that never stops anything. `withheld` says why it was not run, or how one failed that had ended
 * well before.
 */
export type HookAnswer =
  | { readonly reply: HookReply }
  | { readonly failure: string }
  | { readonly withheld: string; readonly hasRun?: true };

/**
 * Where a hook guards calls, one that may not run, or fails where it did not before, leaves the call to a person: or an agent that may edit files could
 * switch its guard off.
 */
export function replyOf(event: HookEventName, answer: HookAnswer): HookReply | null {
  if ('reply' in answer) return answer.reply;
  if ('failure' in answer || !hookEventKind(event).guards) return null;
  const what = answer.hasRun ? 'ended well before, and has failed now' : 'did not run';
  return { decision: 'ask', reason: `a hook that checks this call ${what}: ${answer.withheld}` };
}

export function answerOfCommand(event: HookEventName, end: HookProcessEnd): HookAnswer {
  const { refusal } = hookEventKind(event);
  if ('failure' in end) return { failure: end.failure };
  const { code, stdout, stderr } = end;
  if (code === 2) {
    const reason = cut(stderr.trim()) || 'a hook refused it and gave no reason';
    // It counts whatever was printed: a guard that floods its output has still said no.
    const odd = outputProblem(end);
    const message =
      odd === null ? undefined : `a ${event} hook refused with exit code 2, and ${odd}, which is not read`;
    if (refusal !== 'none') return { reply: { ...refusalReply(refusal, reason), message } };
  }
  if (code === null) return { failure: `it was ended by ${end.signal}${stderrNote(stderr)}` };
  if (code !== 0) return { failure: `exit code ${code}${stderrNote(stderr)}` };
  const problem = outputProblem(end);
  if (problem !== null) return { failure: problem };
  const text = stdout.trim();
  if (text === '') return { reply: {} };
  // What follows was for nobody.
  if (isLeft(text.split('\n', 1)[0] ?? '')) return { reply: {} };
  if (!text.startsWith('{') && event === 'WorktreeCreate')
    return { reply: { path: text.slice(text.lastIndexOf('\n') + 1).trim() } };
  if (!text.startsWith('{')) return plainAnswer(event, text);
  try {
    const value: unknown = JSON.parse(text);
    const double = hookEventKind(event).refusal === 'none' ? null : doubleField(text);
    if (double === null) return answerOfValue(event, value);
    return { failure: `what it printed has the field ${double.slice(0, 60)} twice` };
  } catch {
    return { failure: `what it printed begins like JSON and is none: ${JSON.stringify(text.slice(0, 60))}` };
  }
}

function plainAnswer(event: HookEventName, text: string): HookAnswer {
  const { takesText, guards } = hookEventKind(event);
  if (takesText) return { reply: { context: cut(text) } };
  const line = guards ? refusingLine(text) : null;
  if (line === null) return { reply: {} };
  return {
    failure: `it seems to refuse by printing ${JSON.stringify(line.slice(0, 60))}, which is not understood: ${REFUSE}`,
  };
}

const REFUSE = 'end with exit code 2, or print {"decision": "block"}';

function outputProblem({
  isText,
  isCut,
}: {
  readonly isText: boolean;
  readonly isCut: boolean;
}): string | null {
  if (!isText) return 'what it printed is no text';
  return isCut ? 'it printed more than 1 MiB' : null;
}

function refusalReply(refusal: 'deny' | 'block' | 'tell', reason: string): HookReply {
  return refusal === 'deny' ? { decision: 'deny', reason } : { block: reason };
}

/** The line that git says it with, or the first: the whole may be a stack trace. */
function stderrNote(stderr: string): string {
  const lines = stderr.trim().split('\n');
  const line = lines.find((each) => /^(?:fatal|error): /.test(each)) ?? lines[0] ?? '';
  return line === '' ? '' : `: ${line.slice(0, 200)}`;
}

const DECISIONS: Readonly<Record<string, HookDecision>> = {
  allow: 'allow',
  approve: 'allow',
  ask: 'ask',
  // Nobody puts a call aside here: a person is asked.
  defer: 'ask',
  deny: 'deny',
  block: 'deny',
};

/** Of a function, or of a command that printed JSON. */
export function answerOfValue(event: HookEventName, value: unknown): HookAnswer {
  if (value === undefined || value === null) return { reply: {} };
  if (!isObject(value)) return { failure: 'what it answered is no object' };
  const reading = new Fields(value, '');
  const given = value.hookSpecificOutput;
  if (given !== undefined && !isObject(given)) return { failure: 'hookSpecificOutput is no object' };
  const specific = new Fields(given ?? {}, 'hookSpecificOutput.');
  const named = specific.text('hookEventName');
  if (named !== undefined && named !== event) return { failure: `it answered for the event ${named}` };
  const common = commonReply(event, reading);
  const own = eventReply(event, specific);
  // A no beats what else the same hook says.
  const { decision, reason } = widthOf(common) > widthOf(own) ? common : own;
  const contexts = [common.context, own.context].filter((text) => text !== undefined);
  const reply = {
    ...{ ...common, ...own },
    ...(decision !== undefined && { decision, reason }),
    ...(contexts.length > 0 && { context: contexts.join('\n') }),
  };
  const [problem] = [...reading.problems, ...specific.problems];
  if (problem !== undefined) return { failure: problem };
  const problemOfWords = unheard(event, value, reply);
  return problemOfWords === null ? { reply } : { failure: problemOfWords };
}

/** What may have been a no, and is none that counts. */
function unheard(event: HookEventName, value: Record<string, unknown>, reply: HookReply): string | null {
  const { refusal, guards, halts } = hookEventKind(event);
  const { decision, block, stop } = reply;
  const isNo = decision === 'deny' || decision === 'ask' || block !== undefined || stop !== undefined;
  if (isNo || (refusal === 'none' && halts !== true)) return null;
  const refusing = refusingField(value);
  if (refusing !== null && halts === true)
    return `it seems to refuse by ${refusing.slice(0, 60)}, which stops nothing here: "continue": false does`;
  if (refusing !== null)
    return `it seems to refuse by ${refusing.slice(0, 60)}, which is not understood: ${REFUSE}`;
  // What it has done otherwise counts, and would be lost.
  const isHeard = value.continue === true || Object.values(reply).some((one) => one !== undefined);
  if (guards !== true || isHeard) return null;
  if (typeof value.reason === 'string' && value.reason.trim() !== '')
    return `it gives a reason without a decision, which is not understood: ${REFUSE}`;
  const unknown = unknownField(value);
  if (unknown === null) return null;
  return `it says nothing but ${unknown.slice(0, 60)}, which is not understood: to refuse, ${REFUSE}`;
}

function widthOf({ decision }: HookReply): number {
  return decision === undefined ? -1 : ['allow', 'ask', 'deny'].indexOf(decision);
}

function commonReply(event: HookEventName, fields: Fields): HookReply {
  if (event === 'Elicitation' || event === 'ElicitationResult') {
    const misplaced = ['action', 'content'].find((name) => fields.value[name] !== undefined);
    if (misplaced !== undefined) fields.problems.push(`${misplaced} is read in hookSpecificOutput alone`);
  }
  const reason = fields.text('reason');
  const decision = fields.oneOf('decision', Object.keys(DECISIONS));
  const stops = fields.value.continue === false;
  const isBlock = decision === 'block' || decision === 'deny';
  const { refusal, guards, matches } = hookEventKind(event);
  return {
    ...(guards && callReply(event, fields)),
    ...((matches === 'tool_name' || event === 'PostToolBatch') && heardOf(event, fields)),
    ...(refusal === 'deny' && decision !== undefined && { decision: DECISIONS[decision], reason }),
    ...(isBlock && refusal !== 'deny' && refusal !== 'none' && { block: reason ?? NO_REASON }),
    ...(stops && { stop: fields.text('stopReason') ?? reason ?? 'a hook stopped it' }),
    message: fields.text('systemMessage'),
  };
}

/** About a call, in the words of either event; also without the object around it, which is easily left out. */
function callReply(event: HookEventName, fields: Fields): HookReply {
  const word = fields.oneOf('permissionDecision', Object.keys(DECISIONS));
  const decision = isObject(fields.value.decision) ? fields.value.decision : undefined;
  const updated = event === 'PreToolUse' || word !== undefined ? fields.object('updatedInput') : undefined;
  const changed = updated && { updatedInput: updated };
  if (word !== undefined && (decision === undefined || DECISIONS[word] !== 'allow'))
    return { decision: DECISIONS[word], reason: fields.text('permissionDecisionReason'), ...changed };
  if (decision === undefined) return { ...changed };
  const inner = new Fields(decision, 'decision.');
  const behavior = inner.oneOf('behavior', ['allow', 'ask', 'deny']);
  const updatedInput = inner.object('updatedInput');
  const stop = behavior === 'deny' && decision.interrupt === true;
  const reason = inner.text('message');
  fields.problems.push(...inner.problems);
  return {
    ...changed,
    ...(behavior !== undefined && { decision: DECISIONS[behavior], reason }),
    ...(updatedInput && { updatedInput }),
    ...(stop && { stop: reason ?? NO_REASON }),
  };
}

const NO_REASON = 'a hook refused it and gave no reason';

/** What is told to the model, and what it reads in the place of a result. */
function heardOf(event: HookEventName, fields: Fields): HookReply {
  const context = fields.text('additionalContext');
  const output = event === 'PostToolUse' ? fields.value.updatedToolOutput : undefined;
  const updatedOutput =
    output === undefined ? undefined : cut(typeof output === 'string' ? output : JSON.stringify(output));
  return { ...(context && { context }), ...(updatedOutput !== undefined && { updatedOutput }) };
}

function eventReply(event: HookEventName, fields: Fields): HookReply {
  const heard = heardOf(event, fields);
  switch (event) {
    case 'PreToolUse':
    case 'PermissionRequest':
      // A word in its place is a mistake.
      fields.object('decision');
      return { ...heard, ...callReply(event, fields) };
    case 'SessionStart':
    case 'UserPromptSubmit': {
      const title = fields.text('sessionTitle');
      const opening = event === 'SessionStart' ? fields.text('initialUserMessage') : undefined;
      return { ...heard, ...(title && { title }), ...(opening && { opening }) };
    }
    case 'Elicitation':
    case 'ElicitationResult': {
      const action = fields.oneOf('action', ['accept', 'decline', 'cancel']);
      const content = fields.object('content');
      if (content !== undefined && action === undefined)
        fields.problems.push('it fills in a form without an action');
      // It is one of these words, or nothing.
      return action === undefined ? heard : { ...heard, answer: { action, content } as HookElicited };
    }
    case 'WorktreeCreate': {
      const path = fields.text('worktreePath');
      // Whatever it is, it is meant as a path.
      return { ...heard, path: path === undefined || /^[/.~]/.test(path) ? path : `./${path}` };
    }
    default:
      return heard;
  }
}
