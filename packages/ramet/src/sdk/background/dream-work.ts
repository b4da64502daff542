/**
 * Dreams of a session (BG-7): 24 hours and five sessions after the last, memory is looked through, a task after each turn. The
 * forks look into files and write nothing; what they answer is checked, and carried out when all tasks are done. A session
 * may be open for days, while others count and dream: it looks again.
 */
import { statSync } from 'node:fs';
import type { Agent, BackgroundWork } from '../../engine/shapes.ts';
import { DreamRecord } from '../../memory/dream/dream-record.ts';
import { Dream } from '../../memory/dream/run-dream.ts';
import type { MemoryChange } from '../../memory/files/memory-history.ts';
import { storeOf } from '../../memory/files/memory-places.ts';
import { MemoryStore } from '../../memory/files/memory-store.ts';
import { wallOf } from '../../schema/clock.ts';
import { dreamRepository, dreamTerms, looksIntoFiles } from '../memory/dream-ground.ts';
import { memoryPlace } from '../memory/session-memory.ts';
import type { LiveParts } from '../session/live-parts.ts';

/** Between two looks at whether one is due. What has failed is not tried again before. */
const LOOK_AGAIN_MS = 3_600_000;

interface Dreaming {
  readonly dream: Dream;
  readonly record: DreamRecord;
  end(): void;
}

async function carriedOut(dream: Dream, record: DreamRecord, main: Agent): Promise<MemoryChange | null> {
  const { change, hasLooked } = await dream.finish();
  if (hasLooked) record.done(wallOf(main.runtime.clock));
  return change;
}

export function dreamWork(parts: LiveParts): BackgroundWork | null {
  const { settings, place, agent } = parts;
  const { memory } = settings.settings;
  if (memory?.enabled === false || memory?.dream?.enabled === false) return null;
  const at = memoryPlace(place, settings.env);
  let dreaming: Dreaming | null = null;
  let lookAt = Number.NEGATIVE_INFINITY;
  const begin = async (main: Agent): Promise<Dreaming | null> => {
    // Without memory there is nothing to tidy up, and nothing is made.
    if (statSync(storeOf(at, 'project'), { throwIfNoEntry: false })?.isDirectory() !== true) return null;
    const { session } = main.runtime.journal;
    using opened = new DisposableStack();
    const record = opened.use(new DreamRecord(storeOf(at, 'project')));
    const { isDue } = record.look(wallOf(main.runtime.clock), dreamTerms(settings.settings), session);
    const lock = isDue ? record.lock() : null;
    if (lock === null) return null;
    opened.use(lock);
    const store = opened.use(new MemoryStore(storeOf(at, 'project'), () => wallOf(main.runtime.clock)));
    const source = { session, agent: null, turn: main.state.spent.turns };
    const dream = await Dream.begin({ store, repository: dreamRepository(at.root), source });
    const held = opened.move();
    main.scope.defer(() => held.dispose());
    return { dream, record, end: () => held.dispose() };
  };
  const finish = async ({ dream, record, end }: Dreaming, main: Agent): Promise<void> => {
    dreaming = null;
    const change = await carriedOut(dream, record, main).finally(end);
    if (change === null) return;
    const { memoryWritten } = await import('../../engine/later.ts');
    const written = { store: storeOf(at, 'project'), name: 'project', change } as const;
    await memoryWritten(main, written, new AbortController().signal);
  };
  return {
    source: 'dream',
    description: 'look through memory',
    limits: { budget: { seconds: 300 }, maxTurns: 12 },
    canUseTool: (name) => {
      const tool = agent.spec.tools.find((one) => one.name === name);
      if (tool !== undefined && looksIntoFiles(tool)) return { allowed: true };
      return { allowed: false, reason: 'you look through memory: look into files, and answer with text' };
    },
    endsWithPrompt: false,
    async due({ agent: main }) {
      const now = main.runtime.clock.now();
      if (dreaming === null && now < lookAt) return null;
      lookAt = now + LOOK_AGAIN_MS;
      dreaming ??= await begin(main);
      const current = dreaming;
      if (current === null) return null;
      const { task } = current.dream;
      if (task === null) {
        await finish(current, main);
        return null;
      }
      return {
        task,
        async take({ answer }) {
          current.dream.take(main.runtime.redact(answer));
          if (current.dream.task === null) await finish(current, main);
        },
      };
    },
  };
}
