/** Skills and commands that a person asks for by `/name`, found once for each process. */
import { listPrompts } from '../../../sdk/extensions/list-prompts.ts';
import type { SessionOptions } from '../../../sdk/options.ts';

export interface CustomCommand {
  readonly name: string;
  /** As `/help` shows it. */
  readonly usage: string;
  readonly meaning: string;
}

let found: readonly CustomCommand[] = [];
/** Of a repository and not in use: a session says why. */
let unused: readonly string[] = [];
let ofServers: readonly CustomCommand[] = [];

export function customCommands(): readonly CustomCommand[] {
  return [...found, ...ofServers];
}

/** By its name, or by the last part of it. What a server of the session has is not known here. */
export function isCustomCommand(name: string): boolean {
  if (/^mcp__.+__./.test(name)) return true;
  const names = [...found.map((one) => one.name), ...unused];
  return names.some((one) => one === name || one.endsWith(`:${name}`));
}

/** Looks for them. What is wrong with a file is said when a session is opened. */
export async function loadCustomCommands(options: SessionOptions): Promise<void> {
  const { cwd, env, plugins } = options;
  const { prompts, catalog } = await listPrompts({
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
    plugins,
  });
  unused = [...(catalog?.changed ?? []), ...(catalog?.untrusted ?? [])].map(({ name }) => name);
  found = prompts
    .filter(({ forUser }) => forUser)
    .map(({ name, argumentHint, description }) => ({
      name,
      usage: `/${name}${argumentHint === null ? '' : ` ${argumentHint}`}`,
      meaning: oneLine(description),
    }));
  await loadServerCommands(options);
}

/** Prompts of servers, as they were when the servers were last asked; again after a turn that may have asked them. */
export async function loadServerCommands(options: SessionOptions): Promise<void> {
  const { knownOffers } = await import('../../../sdk/mcp/known-offers.ts');
  ofServers = (await knownOffers(options)).prompts.map(({ name, usage, description }) => ({
    name,
    usage: oneLine(usage),
    meaning: oneLine(description),
  }));
}

const LONGEST = 100;

function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1).toWellFormed()}…` : line;
}
