/**
 * The one door to zod: `import * as z from './zod.ts'`. It is `zod/mini`, passed on name by name so that
 * a bundle holds what is used and no more (docs/decisions/003-start-up.md); mini carries no messages of its
 * own, so English is set here.
 */
import { config } from 'zod/mini';
import english from 'zod/v4/locales/en.js';

config(english());

export * from 'zod/mini';
