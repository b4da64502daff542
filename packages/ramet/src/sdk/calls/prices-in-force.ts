import { overridePrices, PRICES, type PriceTable } from '../../model/prices.ts';
import { sessionSettings } from '../session/session-settings.ts';
import { type CallOptions, callerOf } from './caller.ts';

/** What models cost here: the list prices, and what the settings say instead. */
export async function pricesInForce(options: CallOptions = {}): Promise<PriceTable> {
  const { cwd, env } = callerOf(options);
  const { settings } = await sessionSettings({ cwd, env });
  return overridePrices(PRICES, settings.prices ?? {});
}
