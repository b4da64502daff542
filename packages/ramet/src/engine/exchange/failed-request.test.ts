import { expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import type { ModelProvider } from '../../model/provider.ts';
import { ModelError } from '../../schema/errors.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { ledgerOf } from '../../views/ledger/ledger.ts';
import { hosted } from '../agent/agent.ts';
import { mostCostOf } from './exchange.ts';

test('MODEL-2: a request that is sent again on a fresh connection is on record and on the bill', async () => {
  const model = scriptedModel({ text: 'Here.' });
  const provider: ModelProvider = {
    ...model,
    async send(request, options) {
      const message = 'the kept connection to http://127.0.0.1 was closed';
      options.onResend?.(new ModelError('connection', 'retryable', message));
      return model.send(request, options);
    },
  };
  const { run, recorded } = await startEngine({ provider });
  expect((await run('go')).result).toMatchObject({ status: 'done', text: 'Here.' });
  const requests = recorded().filter(({ type }) => /^(request|response)\./.test(type));
  expect(requests).toMatchObject([
    { type: 'request.started', attempt: 1 },
    { type: 'request.failed', attempt: 1, code: 'connection', retryInMs: 0, usage: null, mayCost: true },
    { type: 'request.started', attempt: 1 },
    { type: 'response.completed' },
  ]);
  const events = recorded().map((event, seq) => ({ seq, time: 0, agent: 's.1', event }));
  expect(ledgerOf(events).total).toMatchObject({
    requests: 2,
    responses: 1,
    retries: 1,
    unanswered: { requests: 1 },
  });
});

test('a request is priced without joining its pieces: that would copy the conversation in each turn', async () => {
  const { agent } = await startEngine({ provider: scriptedModel() });
  const pieces = [Buffer.alloc(3_000), Buffer.alloc(1_000)];
  const sent = {
    model: 'claude-sonnet-5',
    pieces,
    get body(): Uint8Array {
      throw new Error('joined');
    },
  };
  const most = mostCostOf(hosted(agent), sent, 0, []);
  expect(most).toBe(mostCostOf(hosted(agent), { model: sent.model, body: Buffer.concat(pieces) }, 0, []));
  expect(most).toBeGreaterThan(0);
});
