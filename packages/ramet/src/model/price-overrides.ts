/** Prices that a user states, put in front of the table (MODEL-3). */
import { findRow, type PriceRow, type PriceTable, type TokenPrices } from './prices.ts';

export type PriceOverrides = Readonly<
  Record<string, { readonly [Part in keyof TokenPrices]?: number | undefined }>
>;

const UNKNOWN: TokenPrices = { input: null, write5m: null, write1h: null, read: null, output: null };

/**
 * A price that is not stated keeps what the table says of the same model, else stays unknown. A stated one counts
 * for prompts of every length: whoever states it knows of no tiers.
 */
export function overridePrices(table: PriceTable, overrides: PriceOverrides): PriceTable {
  const rows = Object.entries(overrides).map(([model, stated]): PriceRow => {
    const row = findRow(model, table);
    const over = (known: TokenPrices): TokenPrices => ({ ...known, ...withoutUndefined(stated) });
    return {
      ...(row?.above === undefined ? {} : { above: { ...row.above, prices: over(row.above.prices) } }),
      models: [model],
      prices: over(row?.prices ?? UNKNOWN),
      date: 'settings',
      unconfirmed: row?.unconfirmed === true && Object.keys(stated).length < Object.keys(UNKNOWN).length,
    };
  });
  return rows.length === 0 ? table : [...rows, ...table];
}

function withoutUndefined(stated: PriceOverrides[string]): Partial<TokenPrices> {
  return Object.fromEntries(Object.entries(stated).filter(([, price]) => price !== undefined));
}
