/** Checkouts matter once an agent can change one: their code is loaded then. */
import type { CheckoutsOptions, LoadCheckouts } from './checkout.ts';

export function lazyCheckouts(options: CheckoutsOptions): LoadCheckouts {
  let loaded: ReturnType<LoadCheckouts> | null = null;
  return () => {
    loaded ??= import('./checkout.ts').then((module) => module.createCheckouts(options));
    return loaded;
  };
}
