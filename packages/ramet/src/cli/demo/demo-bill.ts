/** The bill of `ramet demo`, from the journal: every agent's tokens and dollars, and what sharing the cache was worth. */

import { addCost, addUsage, hitRate, NO_USAGE, type Usage } from '../../schema/usage.ts';
import { agentTree } from '../../views/agent-label.ts';
import { emptyLine } from '../../views/ledger/ledger.ts';
import type { SessionView } from '../../views/session-view.ts';
import { dollars, excerpt, percent, table, tokens } from '../../views/text/format.ts';

const LONGEST_NAME = 26;
const HEADINGS = ['', 'INPUT', 'WRITTEN', 'READ', 'OUTPUT', 'FROM CACHE', 'COST'];

export interface DemoBill {
  /** A line for every agent, and their sum. */
  table: string;
  /** Of the children together. */
  usage: Usage;
  costUsd: number | null;
  /** What the same children would have cost if none could read what another agent had written. */
  unsharedUsd: number | null;
  children: number;
}

export function demoBill({ agents, ledger }: Pick<SessionView, 'agents' | 'ledger'>): DemoBill {
  const rows = agentTree(agents).map(({ agent, level }) => {
    const name = `${'  '.repeat(level)}${agent.name ?? agent.type}`;
    const { usage, costUsd, reused } = ledger.agents.get(agent.id) ?? emptyLine();
    return { name, usage, costUsd, reused, isChild: agent.parent !== null };
  });
  const children = rows.filter(({ isChild }) => isChild);
  const costUsd = children.map((row) => row.costUsd).reduce(addCost, 0);
  const saved = children.map(({ reused }) => reused.savedUsd).reduce(addCost, 0);
  return {
    table: table([HEADINGS, ...rows.map(line), line({ name: 'in all', ...ledger.total })].map(indented)),
    usage: children.map(({ usage }) => usage).reduce(addUsage, NO_USAGE),
    costUsd,
    unsharedUsd: addCost(costUsd, saved),
    children: children.length,
  };
}

function line({ name, usage, costUsd }: { name: string; usage: Usage; costUsd: number | null }): string[] {
  return [
    name.length > LONGEST_NAME ? excerpt(name, LONGEST_NAME) : name,
    tokens(usage.input_tokens),
    tokens(usage.cache_creation_input_tokens),
    tokens(usage.cache_read_input_tokens),
    tokens(usage.output_tokens),
    percent(hitRate(usage)),
    dollars(costUsd),
  ];
}

/** Names on the left, figures on the right. */
function indented([name = '', ...figures]: string[]): string[] {
  const widths = [6, 7, 6, 6, 10, 8];
  return [`  ${name}`, ...figures.map((figure, index) => figure.padStart(widths[index] ?? 0))];
}
