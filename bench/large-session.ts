/** A session of many forks, written to a real journal by hand: what an engine would need minutes for. */
import { freezeBlock } from '../packages/ramet/src/conversation/frozen-block.ts';
import { RecordedSession } from '../packages/ramet/test/fixtures/recorded-session.ts';
import { toolCompleted, toolStarted } from '../packages/ramet/test/recorded-events.ts';

export interface LargeSession {
  agents: number;
  turns: number;
}

/** The id of the session; each turn of an agent has eight events and a text of its own. */
export async function writeLargeSession(project: string, cwd: string, size: LargeSession): Promise<string> {
  const session = await RecordedSession.open(project, cwd);
  const system = 'Rules for agents, a paragraph of them.\n'.repeat(200);
  const main = session.agent(1, {}, { system });
  session.say(main, ['Hand it out.']);
  session.exchange(main, usageOf(0));
  for (let number = 2; number <= size.agents; number++) {
    const id = session.fork(number, main, `task ${number}`);
    for (let turn = 0; turn < size.turns; turn++) workTurn(session, id, turn);
    session.end(id);
    if (number % 100 === 0) await session.journal.commit('written');
  }
  session.exchange(main, usageOf(size.turns));
  session.end(main);
  await session.journal.close();
  return session.journal.session;
}

function workTurn(session: RecordedSession, id: string, turn: number): void {
  const call = `${id}-${turn}`;
  session.exchange(id, { ...usageOf(turn), answer: `I look at file ${turn} as ${id}.` });
  const seen = 'a line of a file that was read\n'.repeat(10);
  const content = `${call}\n${seen}`;
  session.record(id, toolStarted(call, 'Read'));
  session.record(id, { type: 'file.read', call, path: `/srv/file-${turn}.txt`, version: 'v1' });
  const result = freezeBlock({ type: 'tool_result', tool_use_id: call, content });
  const [digest = ''] = session.store([result]);
  session.record(id, { ...toolCompleted(call, 'Read'), result: digest });
  session.say(id, [content]);
  session.record(id, { type: 'status.changed', status: 'waiting', cause: 'permit' });
  session.record(id, { type: 'status.changed', status: 'running', cause: null });
}

function usageOf(turn: number): { usage: Record<string, number> } {
  const cache_read_input_tokens = 3_000 + 100 * turn;
  return {
    usage: { input_tokens: 5, cache_creation_input_tokens: 100, cache_read_input_tokens, output_tokens: 20 },
  };
}
