/**
 * An agent that is resumed from a journal that lost its end (`journal/witness.ts`): it is told, and what its last message
 * asked for is not done again on the word of a record that may have lost the start of it.
 */
import type { Agent } from '../agent/agent.ts';
import { RECORD_LOST_ITS_END } from '../agent/notices.ts';

export function tellOfLostEnd(agent: Agent): void {
  if (agent.openCalls !== null) agent.openCalls = { ...agent.openCalls, recordIsShort: true };
  agent.receive('notification', null, RECORD_LOST_ITS_END);
}
