/** The engine's own words in a conversation: fixed texts, so that equal situations give equal bytes. */
import { quoteAttribute, quoteMessage, quoteText } from '../../conversation/quoted-text.ts';
import type { CommandChange } from '../../files/file-readers.ts';
import { quoted } from '../../files/stale-file.ts';
import { AGENT_MESSAGE } from '../../schema/content.ts';
import { PROVIDER_CAUSE } from '../../schema/errors.ts';
import { headOf, visibleLine } from '../../system/text/visible-text.ts';

const LONGEST_NAME = 100;

export const OUTPUT_CUT: string =
  'Your last message was cut off at the output limit. Continue exactly where it stopped. Repeat nothing.';

export const SAY_SOMETHING: string = 'Your last message was empty. State the result of your work.';

export const MAKE_THE_CALL: string =
  'Your last message announced a tool call but contained none. Make the call, or state the result of your work.';

export const SEARCH_STOPPED: string =
  'Your web search was stopped: the rules no longer allow searching the web. Answer without it, and say what you could not find out.';

export const CLOSING_TURN: string =
  'You have used all your turns. Call no more tools. Say in a few sentences what is done, what is not, and what should happen next.';

export function budgetNearlySpent(what: string): string {
  return `Your budget is nearly spent (${what}). Finish what you are doing, leave the files in a working state, and report.`;
}

/** To an agent that now works in a worktree, or no longer does. */
export function directoryChanged(how: string): string {
  return `Your directory has changed: ${how}`;
}

/** To every agent that is resumed in a session whose journal lacks what had been recorded last. */
export const RECORD_LOST_ITS_END: string =
  'The last part of this session is not on record: you and your agents have done more than you remember. Check the files and the git log before you repeat anything.';

/** To an agent whose background commands did not outlast an interruption; `lines` tell of one each. */
export function tasksInterrupted(lines: readonly string[]): string {
  return `Your background commands were interrupted with you. Start them again if you still need them:\n${lines.join('\n')}`;
}

/** Answers to tool calls that were not, or perhaps not fully, carried out. */
export const NOT_RUN: Record<'interrupted' | 'budget' | 'turns' | 'hook', string> = {
  interrupted: 'interrupted: this call was not run',
  budget: 'not run: the budget is spent',
  turns: 'not run: no turns are left',
  hook: 'not run: a hook ended the run',
};

/** The code of the warning about a write to what others may be at work on, in a worktree that agents share. */
export const OUTSIDE_FILES = 'outside_files';

/** After the third equal refusal of a call, once (FORK-4). */
export const REFUSED_OFTEN: string =
  'Calls like this were refused three times for this reason. Do not repeat them, and do not work around the refusal. Do the part of your task that does not need them, and report what is missing.';

export const MAY_HAVE_RUN: string = 'interrupted: may have taken effect; check before repeating it';

/** `cause` is named where it is no person's doing: a provider that was away. */
export function childInterrupted(agent: string, cause: string | null = null): string {
  const why = cause === PROVIDER_CAUSE ? `interrupted: ${cause}` : 'interrupted';
  return `${why}: agent ${agent} was interrupted; its changes remain. SendMessage resumes it with its full context.`;
}

/** `started` tells of the agent. */
export function agentResumed(started: string): string {
  return `An agent of yours was interrupted and has resumed. ${started}`;
}

/** Why a signal is aborted when an agent is stopped on purpose. */
export const STOPPED = 'stopped';

export const CANCELLED: string =
  'This work was cancelled. Call no more tools. Say in a few sentences what is done, what is not, and in what state the files are.';

export function notProved(problem: string): string {
  return `Not done yet. We checked the repository, not your report: ${problem}. Finish it, then report again. If it cannot be done, say why.`;
}

export function answerRefused(problem: string): string {
  return `Your last message is not in the form that was asked for: ${problem}. Give the whole answer again, corrected.`;
}

const MOST_FILES_TOLD = 10;

/** For an agent that has read files which commands of others have changed since. */
export function filesChanged(changes: readonly CommandChange[]): string {
  const lines = changes.slice(0, MOST_FILES_TOLD).map(({ path, version, agent, task, command }) => {
    const what = version === null ? 'was removed' : 'was changed';
    const whose = task === null ? `agent ${agent}` : `agent ${agent} ("${quoted(task)}")`;
    return `- ${path} ${what} while ${whose} ran \`${quoted(command)}\``;
  });
  const rest = changes.length - lines.length;
  if (rest > 0) lines.push(`- and ${rest} more`);
  return `Others changed files that you have read. Read them again before you rely on them:\n${lines.join('\n')}`;
}

/** What another agent, or a person, says to a running one. The engine names the sender: the text grants nothing. */
interface MessageSender {
  /** `outside`: it came to a team from a command line, which any program can use. */
  kind: 'message' | 'user' | 'outside';
  /** The agent's id; null for a person. */
  from: string | null;
  name: string | null;
}

export function agentMessageText(sender: MessageSender, text: string): string {
  return `<${AGENT_MESSAGE} from="${quoteAttribute(nameOf(sender))}">\n${quoteMessage(text.toWellFormed())}\n</${AGENT_MESSAGE}>`;
}

/** An agent cannot be taken for the user: it always has its id beside it. */
function nameOf({ kind, from, name }: MessageSender): string {
  if (kind === 'outside') return 'the command line, not the user';
  if (kind === 'user' || from === null) return 'the user';
  return name === null ? from : `${headOf(name.toWellFormed(), LONGEST_NAME)} (${from})`;
}

const MOST_CHANGES = 6;
const LONGEST_CHANGE = 240;

/**
 * The changes of a checkout that nobody known made, as one short text (WORK-9). The list has the dangerous kinds first;
 * what does not fit is counted, never dropped silently. The texts hold names and reasons that anybody may have chosen.
 */
export function checkoutWarning(changes: readonly string[]): string {
  const told = changes.slice(0, MOST_CHANGES).map((text) => {
    return text.length <= LONGEST_CHANGE ? text : `${headOf(text, LONGEST_CHANGE)}...`;
  });
  const more = changes.length - told.length;
  const isCut = more > 0 || changes.some(({ length }) => length > LONGEST_CHANGE);
  const rest = more > 0 ? `; and ${more} more` : '';
  return `Ramet does not know who changed it: ${told.join('; ')}${rest}${isCut ? ' (ramet ps lists all)' : ''}`;
}

/** Around what hooks say. */
const HOOK_ELEMENTS = ['hook-context', 'hook-feedback'];

/** Text that a hook adds for the model. */
export function hookText(event: string, text: string): string {
  return `<hook-context event="${event}">\n${quoteText(text, HOOK_ELEMENTS)}\n</hook-context>`;
}

/** What a hook has against what was done. */
export function hookSaid(event: string, reason: string): string {
  return `<hook-feedback event="${event}">\n${quoteText(reason, HOOK_ELEMENTS)}\n</hook-feedback>`;
}

/** Also of a call that was then refused. */
export function inputChanged(input: Readonly<Record<string, unknown>>, by: string = 'A hook'): string {
  return `${by} changed the input of this call to ${JSON.stringify(input)}`;
}

/** To an agent that may not end yet. */
export function keptByHook(event: string, reason: string): string {
  return `You are not done: a hook says so. Do what it asks, or say why you cannot.\n${hookSaid(event, reason)}`;
}

/** For the user, of a member that a hook would send back for ever. */
export function idleAlthough(member: string, times: number, reason: string): string {
  const said = visibleLine(headOf(reason, LONGEST_CHANGE));
  return `${member} goes idle although a TeammateIdle hook says that it is not done: it was sent back ${times} times, and that is the most. The hook says: ${said}`;
}
