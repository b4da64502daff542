import { describe, expect, test } from 'vitest';
import { agentStarted, recorded, requestStarted, responseCompleted } from '../../../test/recorded-events.ts';
import type { EventOf } from '../../schema/events.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { ledgerOf } from './ledger.ts';
import { TeamCost, teamCostObject, teamCostText } from './team-cost.ts';

const MEMBER = { kind: 'fresh', call: null, description: 'x', background: true, depth: 1 } as const;

const asked = (request: string, input: number) =>
  [
    requestStarted({ request, model: 'm' }),
    responseCompleted({
      request,
      model: 'm',
      usage: { ...NO_USAGE, input_tokens: input },
      costUsd: input / 100,
    }),
  ] as const;

const received = (item: string, mail?: number): EventOf<'message.received'> => {
  const event = { type: 'message.received', item, kind: 'message', from: 's.1', blocks: ['d1'] } as const;
  return { ...event, blocks: ['d1'], ...(mail !== undefined && { mail }) };
};

const delivered = (...delivers: string[]): EventOf<'message.appended'> => ({
  ...{ type: 'message.appended', role: 'user', cause: 'delivery', blocks: [], shared: 0, delivers },
});

const events = recorded(
  ['s.1', agentStarted()],
  ['s.1', asked('r1', 10)[0]],
  ['s.1', asked('r1', 10)[1]],
  ['s.2', agentStarted({ parent: 's.1', name: 'ada', origin: { ...MEMBER, member: true } })],
  ['s.2', asked('r2', 20)[0]],
  ['s.2', asked('r2', 20)[1]],
  ['s.3', agentStarted({ parent: 's.2', name: 'helper', origin: { ...MEMBER, depth: 2 } })],
  ['s.3', asked('r3', 30)[0]],
  ['s.3', asked('r3', 30)[1]],
  ['s.2', received('i1', 7)],
  ['s.2', received('i2')],
  ['s.2', delivered('i1', 'i2')],
  ['s.2', asked('r4', 40)[0]],
  ['s.2', asked('r4', 40)[1]],
  ['s.2', asked('r5', 50)[0]],
  ['s.2', asked('r5', 50)[1]],
);

function costOf(all: typeof events): TeamCost {
  const cost = new TeamCost(() => 400);
  for (const one of all) cost.take(one);
  return cost;
}

describe('TEAM-2, MODEL-3: what a team cost', () => {
  test('every request belongs to one member, agents of a member to it, and the sum is that of the session', () => {
    const cost = costOf(events);
    const members = Array.from(cost.members, ([name, { ledger }]) => [name, ledger.total.usage.input_tokens]);
    expect(members).toEqual([
      ['lead', 10],
      ['ada', 140],
    ]);
    expect(teamCostObject({ name: 'crew', session: 's' }, cost)).toMatchObject({
      ...{ team: 'crew', session_id: 's' },
      total: { requests: 5, total_cost_usd: ledgerOf(events).total.costUsd },
    });
  });

  test('messages count with what they brought, and with every request that holds them', () => {
    const { messages, messageTokens, requestTokens } = costOf(events).members.get('ada') ?? {};
    expect({ messages, messageTokens, requestTokens }).toEqual({
      messages: 1,
      messageTokens: 100,
      requestTokens: 200,
    });
  });

  test('TEAM-4: a plan costs what its member asked until the last answer to it', () => {
    const answered = (plan: 'approved' | 'rejected') => ({ type: 'plan.changed', plan, by: null }) as const;
    const cost = costOf([
      ...events.slice(0, 6),
      ...recorded(
        ['s.2', answered('rejected')],
        ['s.2', asked('r6', 60)[0]],
        ['s.2', asked('r6', 60)[1]],
        ['s.2', answered('approved')],
      ),
      ...events.slice(12),
    ]);
    expect(teamCostObject({ name: 'crew', session: 's' }, cost)).toMatchObject({
      members: {
        lead: { plan: null },
        ada: { requests: 4, plan: { approved: 1, rejected: 1, requests: 2 } },
      },
    });
    expect(teamCostText({ name: 'crew', session: 's' }, cost, null)).toContain(
      'plan of ada: rejected once, then approved; 2 requests, $0.8000\n',
    );
  });

  test('it is printed as one table of members and one of messages', () => {
    const text = teamCostText({ name: 'crew', session: 's' }, costOf(events), null);
    expect(text).toMatch(/^team crew, session s\nBY MEMBER +REQ .*\nlead +1 .*\nada +4 .*\nTOTAL +5 /);
    expect(text).toMatch(
      /MESSAGES \(ESTIMATED\) +READ +TOKENS +IN REQUESTS +OF INPUT\nlead +0 .*\nada +1 +100 +200 +100%\n$/,
    );
    expect(teamCostText({ name: 'crew', session: 's' }, costOf([]), null)).toMatch(/\nno messages\n$/);
  });
});
