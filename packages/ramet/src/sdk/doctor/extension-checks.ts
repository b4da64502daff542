/**
 * Skills, commands, plugins and instructions: how many there are, and what is not in use. `list-prompts.ts` finds it, for
 * `ramet settings` too, which shows all of it; here the first of each kind has a place.
 */
import { extensionsHere, type UnusedExtension } from '../extensions/list-prompts.ts';
import { type DoctorContext, type HealthCheck, limited, ok } from './health-check.ts';

export async function checkExtensions({ caller }: DoctorContext): Promise<HealthCheck> {
  const { prompts, unused, flawed, inactive, instructions } = await extensionsHere(caller);
  const { files, problems } = instructions;
  const count = (kind: string): number => prompts.filter((one) => one.kind === kind).length;
  const counts = `${count('skill')} skills, ${count('command')} commands, ${files.length} files of instructions`;
  const lines = [...unused.map(lineOf), ...problems];
  const found = [
    counts,
    ...(lines.length === 0 ? [] : [`not in use: ${firstOf(lines)}`]),
    ...(flawed.length === 0 ? [] : [`in use, with a mistake: ${firstOf(flawed.map(lineOf))}`]),
  ];
  const fields = inactive.map(({ what, source }) => `${what} (${source})`);
  const said = [...found, ...(fields.length === 0 ? [] : [`without effect: ${firstOf(fields)}`])].join('; ');
  return found.length === 1
    ? ok('extensions', said)
    : limited('extensions', said, 'ramet settings lists all of it');
}

function lineOf({ source, why }: UnusedExtension): string {
  return `${source}: ${why}`;
}

function firstOf([first = '', ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first} (and ${more.length} more: see ramet settings)`;
}
