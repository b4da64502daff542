import * as z from '../schema/zod.ts';
import { defineTool, type Tool } from './tool.ts';

export const webFetchTool: Tool = defineTool({
  name: 'WebFetch',
  description: 'Fetch a public web page as text (HTML is converted, JSON and text are shown as they are).',
  // It changes nothing, but what is asked for leaves the machine: it needs the same permission as a command.
  effect: 'execute',
  schedule: 'ordered',
  input: z.strictObject({
    url: z.string().check(z.minLength(1)),
    prompt: z.optional(z.string().check(z.describe('What you look for; picks parts of a long page'))),
  }),
  access: ({ url }) => ({ url }),
  async run(input, context) {
    const { fetchPage } = await import('./web/fetch-page.ts');
    return fetchPage(input, context);
  },
});
