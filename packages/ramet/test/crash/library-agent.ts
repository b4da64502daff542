/** A program that starts an agent through the library and waits for it; a test kills it meanwhile. */
import { openSession } from '../../src/sdk/index.ts';

const [cwd = '', home = '', url = ''] = process.argv.slice(2);
const env = {
  PATH: process.env.PATH,
  RAMET_HOME: home,
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: 'test',
};
await using session = await openSession({ cwd, env, settings: false });
for await (const _ of session.run('Go.'));
const request = { prompt: 'child', description: 'd', name: 'scout', subagent_type: 'general-purpose' };
await (await session.spawn(request)).result;
