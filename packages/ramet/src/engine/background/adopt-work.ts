/**
 * The user has asked for what a fork has done in advance (BG-2). Its answer becomes the answer to the prompt that was just said,
 * and its files move in: one event says both, and is on disk before a file is touched. The loop then finds an answer, as after
 * a restart, and ends the turn with it.
 */
import { contentOf, freezeBlock } from '../../conversation/frozen-block.ts';
import { adoptFiles, createOriginalFiles } from '../../files/undo.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { type Agent, hosted } from '../agent/agent.ts';
import { finishedLine, finishLeftAdoption, isMarked, markAdoption, unmarkAdoption } from './left-adoption.ts';
import { adoptedText, type PreparedWork } from './prepared-work.ts';

/** Null when it was adopted; otherwise why not, and nothing has changed. */
export async function adoptWork(
  main: Agent,
  work: PreparedWork,
  onStep?: (step: string) => void,
): Promise<string | null> {
  const { runtime, conversation } = hosted(main);
  const said = conversation.messages.at(-1);
  // The prompt brought along what the fork has not seen.
  if (said?.role !== 'user' || said.blocks.length !== 1) return 'there is news besides the prompt';
  // Before anything is laid beside the files: who is killed from here on has the prompt, and asks the model with it.
  await runtime.journal.commit('synced');
  if ((await work.isCurrent?.().catch(() => false)) === false)
    return 'the checkout has changed since, and it has looked at more than single files';
  const text = runtime.redact(adoptedText(work, main.directory.cwd));
  const block = freezeBlock({ type: 'text', text });
  const { agent, task, files, reads } = work;
  using _mark = markAdoption(runtime.outputDirectory);
  const outcome = await adoptFiles({
    ...{ ledger: runtime.files, originals: createOriginalFiles(runtime.outputDirectory) },
    ...{ agent, task, files, reads, onStep },
    async record(replaced) {
      main.record({
        ...{ type: 'message.appended', role: 'assistant', cause: 'adopted', shared: 0 },
        blocks: main.store([block]),
        adopted: { agent, files: replaced },
      });
      await runtime.journal.commit('synced');
    },
  });
  if (!outcome.adopted) return outcome.reason;
  settle(main, outcome.failed);
  tell(main, agent, String(contentOf(block).text));
  return null;
}

/**
 * What a killed process had adopted and not carried out; `reader` has all that was recorded. Returns the line for the person, if
 * files had to move in: nobody watches the agent yet. The model learns what is not as its conversation says.
 */
export async function finishAdopting(main: Agent, reader: JournalReader): Promise<string | null> {
  const { files: ledger, outputDirectory: outputs } = hosted(main).runtime;
  if (!main.state.adopting && !isMarked(outputs)) return null;
  const finished = await finishLeftAdoption(reader, { ledger, outputs });
  if (finished !== null) settle(main, finished.failed);
  unmarkAdoption(outputs);
  if (finished === null) return null;
  const missing = finished.failed.map(({ path, reason }) => `\n- ${path}: ${reason}`).join('');
  if (missing !== '') main.receive('notification', null, NOT_IN_PLACE + missing);
  return finishedLine(hosted(main).runtime.journal.session, finished);
}

const NOT_IN_PLACE =
  'The process ended while files that were prepared in advance moved in. These are not as the answer says, and are left as they are now:';

function settle(main: Agent, failed: readonly { path: string; reason: string }[]): void {
  main.record({ type: 'files.settled', failed: [...failed] });
  for (const { path, reason } of failed)
    main.warn('not_adopted', `${path} was prepared in advance and is not in place: ${reason}`);
}

/** Watchers see an answer. No request was made for it, so it has cost nothing here: its agent has its own bill. */
function tell({ here, conversation }: Agent, agent: string, text: string): void {
  here.sink?.({ type: 'text_delta', text });
  here.sink?.({
    ...{ type: 'assistant', request: `adopted/${agent}`, messageId: `adopted_${agent}` },
    ...{ model: conversation.head.model, stopReason: 'end_turn', kept: true, usage: NO_USAGE, costUsd: 0 },
    ...{ firstTokenMs: 0, durationMs: 0, rate: {} },
    blocks: [{ type: 'text', text }],
  });
}
