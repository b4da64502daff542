/** The host of agents whose loop runs where keys, limits and rules are. */
import { Cancelled } from '../../schema/errors.ts';
import { ownPermit } from '../calls/authorize.ts';
import { exchangeHere } from '../exchange/exchange.ts';
import { newsHere } from '../loop/run-state.ts';
import { hosted } from './agent.ts';
import type { AgentHost } from './runtime.ts';

export const localHost: AgentHost = {
  exchange: (guest, options) => exchangeHere(hosted(guest), options),
  permitFor: (guest, call, signal) => ownPermit(hosted(guest), call, signal),
  mayHaveNews: (guest) => hosted(guest).children.anyInBackground,
  async news(guest, signal) {
    await newsHere(hosted(guest), signal);
    if (signal.aborted) throw new Cancelled();
  },
};
