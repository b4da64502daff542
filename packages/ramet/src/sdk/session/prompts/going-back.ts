/**
 * Going back in an open session: files as they were before an earlier prompt, the conversation, or both. What cannot be
 * taken back is said. Nothing is erased: each is an event in the journal.
 */
import { closeCalls } from '../../../engine/opening.ts';
import { UNDO } from '../../../files/stale-file.ts';
import type { JournalReader } from '../../../journal/journal.ts';
import { fileHistoryOf } from '../../../journal/projections/file-history.ts';
import { UserMistake } from '../../../schema/errors.ts';
import { noPrompt, RecordedExchanges, type SaidExchange } from '../../../views/exchanges.ts';
import { stepLine } from '../../../views/undo-text.ts';
import { type UndoOptions, type UndoOutcome, undoIn } from '../../calls/undo.ts';
import type { LiveParts } from '../live-parts.ts';
import { readSurroundings, surroundingsFor } from '../main/surroundings.ts';
import type { RewindOutcome, RewindRequest } from '../session-type.ts';

export async function undoHere(parts: LiveParts, options: UndoOptions): Promise<UndoOutcome> {
  refuseBeside(parts);
  return reading(parts, (reader) => undoFiles(parts, reader, options));
}

export async function rewind(parts: LiveParts, request: RewindRequest): Promise<RewindOutcome> {
  refuseBeside(parts);
  const { agent } = parts;
  await closeCalls(agent);
  return reading(parts, async (reader) => {
    const said = promptNumber(reader, agent.spec.id, request.prompt);
    const notes = notTakenBack(reader, said);
    const files = request.what === 'conversation' ? null : await filesBefore(parts, reader, said, request);
    // All or nothing: the conversation would speak of files that are not there.
    if (files?.refused != null)
      throw new UserMistake('rewind_refused', refusalOf(files, agent.directory.cwd));
    if (request.what !== 'files') await conversationBefore(parts, reader, said);
    return { prompt: said.prompt, files, notes };
  });
}

async function conversationBefore(
  parts: LiveParts,
  reader: JournalReader,
  said: SaidExchange,
): Promise<void> {
  const { agent, place, runtime } = parts;
  const { rewindTo } = await import('../../../engine/later.ts');
  rewindTo(agent, reader, said.seq);
  // The next prompt is the first one again, and brings along what only that does.
  const { childEnvironment, redact, journal } = runtime;
  if (agent.conversation.messages.length === 0) {
    const found = await readSurroundings(place, childEnvironment, redact, agent.directory.cwd);
    parts.surroundings = await surroundingsFor(parts.settings, place, found, redact);
  }
  await journal.commit('written');
}

function refusalOf({ blocked }: UndoOutcome, cwd: string): string {
  const which = blocked.map((step) => stepLine(step, cwd).replace('not put back  ', '').trimEnd());
  return `nothing was taken back: ${which.join('; ')}; undo that yourself first, or go back in the conversation only`;
}

/** Null where nothing was changed since, unless only files were asked for. */
async function filesBefore(
  parts: LiveParts,
  reader: JournalReader,
  { turn }: SaidExchange,
  { what, force = false }: RewindRequest,
): Promise<UndoOutcome | null> {
  try {
    return await undoFiles(parts, reader, { turn, force });
  } catch (error) {
    if (what === 'both' && error instanceof UserMistake && error.code === 'nothing_to_undo') return null;
    throw error;
  }
}

async function undoFiles(
  { place, runtime, agent }: LiveParts,
  reader: JournalReader,
  options: UndoOptions,
): Promise<UndoOutcome> {
  const { journal, files } = runtime;
  const sources = { project: place.project, session: journal.session, journal, reader };
  const outcome = await undoIn(sources, options);
  if (outcome.refused !== null || options.dryRun === true) return outcome;
  // An agent that remembers another version learns who came between.
  for (const { restoration } of outcome.steps) {
    const { path, target: version } = restoration;
    const write = { path, version, agent: agent.spec.id, task: null, command: UNDO };
    await files.exclusive(path, async () => files.recordWrite(write));
  }
  return outcome;
}

async function reading<Value>(
  { runtime, family }: LiveParts,
  work: (reader: JournalReader) => Promise<Value>,
): Promise<Value> {
  await runtime.journal.commit('written');
  const reader = family.parts.openReader();
  try {
    return await work(reader);
  } finally {
    reader.close();
  }
}

/** Agents at work would write what is being put back, and report to a conversation that does not know them. */
function refuseBeside({ family }: LiveParts): void {
  const { length } = family.running;
  if (length === 0) return;
  const which = length === 1 ? '1 agent is' : `${length} agents are`;
  throw new UserMistake(
    'agents_at_work',
    `${which} at work: wait until they have ended, or stop them first (/stop all)`,
  );
}

function promptNumber(reader: JournalReader, agent: string, wanted: number): SaidExchange {
  const recorded = new RecordedExchanges(agent);
  for (const event of reader.events({ agent })) recorded.take(event);
  const exchanges = recorded.of(reader);
  const found = exchanges.find(({ number }) => number === wanted);
  if (found !== undefined) return found;
  throw noPrompt(wanted, exchanges.length);
}

/** What has had effects that nobody can take back. */
function notTakenBack(reader: JournalReader, { seq, turn }: SaidExchange): string[] {
  const commands = fileHistoryOf(reader.events()).commands.filter((at) => at >= turn).length;
  const agents = [...reader.events({ after: seq, type: 'agent.started' })].length;
  return [
    ...(commands > 0 ? [`${counted(commands, 'command')} ran since then: what Bash changed stays`] : []),
    ...(agents > 0
      ? [`${counted(agents, 'agent')} worked since then: worktrees and messages to agents stay`]
      : []),
  ];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
