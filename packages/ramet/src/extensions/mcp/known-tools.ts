/**
 * What servers offered when they were last asked, under `$RAMET_HOME/mcp/known/`: names only. With it an agent is told
 * what its servers can do although none of them runs yet. It may be out of date: a search asks the server.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceWhole } from '../../system/replace-whole.ts';
import { configDigest, isObject, type McpServerConfig } from './server-config.ts';
import type { ServerOffer, ServerPrompt } from './server-offer.ts';

export interface KnownOffer {
  readonly tools: readonly string[];
  readonly prompts: readonly ServerPrompt[];
  /** Addresses; templates are none. */
  readonly resources: readonly string[];
}

const NOTHING: KnownOffer = { tools: [], prompts: [], resources: [] };
export const MOST_NAMES = 200;

export function knownOffer(home: string, config: McpServerConfig, cwd: string): KnownOffer {
  try {
    const value: unknown = JSON.parse(readFileSync(pathOf(home, config, cwd), 'utf8'));
    if (!isObject(value) || !Array.isArray(value.tools) || !Array.isArray(value.prompts)) return NOTHING;
    const prompts: unknown[] = value.prompts;
    const resources = Array.isArray(value.resources) ? value.resources.map(String) : [];
    return { tools: value.tools.map(String), prompts: prompts.filter(isPrompt), resources };
  } catch {
    return NOTHING;
  }
}

/** Written only when something changed; a home that cannot be written only means that less is known. */
export function noteOffer(home: string, config: McpServerConfig, cwd: string, offer: ServerOffer): void {
  const known: KnownOffer = {
    tools: offer.tools.slice(0, MOST_NAMES).map(({ name }) => name),
    prompts: offer.prompts.slice(0, MOST_NAMES),
    resources: offer.resources
      .filter(({ isTemplate }) => !isTemplate)
      .slice(0, MOST_NAMES)
      .map(({ uri }) => uri),
  };
  const text = `${JSON.stringify(known)}\n`;
  const path = pathOf(home, config, cwd);
  try {
    if (JSON.stringify(knownOffer(home, config, cwd)) === JSON.stringify(known)) return;
    mkdirSync(join(home, 'mcp', 'known'), { recursive: true, mode: 0o700 });
    replaceWhole(path, text, 0o600);
  } catch {}
}

function pathOf(home: string, config: McpServerConfig, cwd: string): string {
  return join(home, 'mcp', 'known', `${configDigest(config, cwd).slice(0, 24)}.json`);
}

function isPrompt(value: unknown): value is ServerPrompt {
  return isObject(value) && typeof value.name === 'string' && Array.isArray(value.arguments);
}
