import { expect, test } from 'vitest';
import type { Chat } from '../chat.ts';
import { agentsAtWork } from './agent-commands.ts';

test.for<[inBackground: boolean[], line: string | null]>([
  [[], null],
  [[true], '1 agent is still at work in the background'],
  [[false], '1 agent is still at work'],
  [[true, false], '2 agents are still at work'],
])('RES-5: leaving warns of agents, also of those that the turn waits for: %j', ([agents, line]) => {
  // Of the chat only the agents are asked for.
  const chat = { session: { agents: agents.map((inBackground) => ({ inBackground })) } } as unknown as Chat;
  expect(agentsAtWork(chat)).toBe(line);
});
