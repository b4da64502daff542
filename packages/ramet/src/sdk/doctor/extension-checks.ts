/** Skills, commands, plugins and instructions: how many there are, and what is not in use. */
import { readProjectInstructions } from '../../agents/prompts/first-message.ts';
import { unusedHere } from '../extensions/list-prompts.ts';
import { type DoctorContext, type HealthCheck, limited, ok } from './health-check.ts';

export async function checkExtensions({ caller, place }: DoctorContext): Promise<HealthCheck> {
  const { prompts, unused } = await unusedHere(caller);
  const root = place.repository?.root ?? place.cwd;
  const { files, problems } = await readProjectInstructions({
    cwd: place.cwd,
    root,
    rametHome: place.home,
    userHome: caller.env.HOME || undefined,
  });
  const count = (kind: string): number => prompts.filter((one) => one.kind === kind).length;
  const counts = `${count('skill')} skills, ${count('command')} commands, ${files.length} files of instructions`;
  const lines = [...unused.map(({ source, why }) => `${source}: ${why}`), ...problems];
  const [first, ...more] = lines;
  if (first === undefined) return ok('extensions', counts);
  const rest = more.length === 0 ? '' : ` (and ${more.length} more: see ramet settings)`;
  return limited('extensions', `${counts}; not in use: ${first}${rest}`, 'ramet settings lists all of it');
}
