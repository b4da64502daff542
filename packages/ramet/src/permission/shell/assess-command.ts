/**
 * What rules and the shell's syntax say about a Bash call. A script is allowed when every command in it is, by a
 * rule or because it only reads, and when every file it writes may be written.
 */
import type { Assessment } from '../assessment.ts';
import type { PermissionPolicy } from '../policy.ts';
import type { PermissionRule } from '../rule.ts';
import { judgeCommand } from './judge-command.ts';
import { judgeFile } from './judge-file.ts';
import { loadShellParser } from './parse-shell.ts';
import { firstRule, type PartVerdict } from './part-verdict.ts';
import { type UnderstoodScript, understandScript } from './understand-script.ts';
import { isHarmlessVariable } from './variables.ts';

export async function assessCommand(
  policy: PermissionPolicy,
  script: string,
  cwd: string,
): Promise<Assessment> {
  const { rules } = policy;
  const understood = understandScript(await loadShellParser(), script, [cwd]);
  const parts = [
    ...understood.commands.map((command) => judgeCommand(policy, command, cwd)),
    ...understood.files.map((file) => judgeFile(policy, file, cwd)),
    ...judgeRest(understood),
  ];
  const open = parts.filter(({ harmless, allowed }) => !harmless && !allowed);
  return {
    denied: blanketRule(rules.deny) ?? firstRule(...parts.map(({ denied }) => denied)),
    asked: blanketRule(rules.ask) ?? firstRule(...parts.map(({ asked }) => asked)),
    harmless: parts.every(({ harmless }) => harmless),
    where: policy.wall === true ? 'wall' : 'host',
    covered: blanketRule(rules.allow) !== null || parts.every(({ allowed }) => allowed),
    allowed: open.length === 0 || blanketRule(rules.allow) !== null,
    question: {
      summary: script,
      // All of them: what is left out could be what matters.
      reason: [...new Set(open.map(({ reason }) => reason))].join('; '),
      suggestedRules: suggestionsFor(open),
    },
  };
}

/** `Bash` or `Bash(*)`: whatever the command is. */
function blanketRule(rules: readonly PermissionRule[]): PermissionRule | null {
  const blanket = rules.find(
    ({ tool, scope }) =>
      tool.matches('Bash') &&
      (scope.kind === 'every call' || (scope.kind === 'commands' && scope.pattern.everything)),
  );
  return blanket ?? null;
}

function judgeRest({ variables, unclear }: UnderstoodScript): PartVerdict[] {
  const strange = variables.filter((variable) => !isHarmlessVariable(variable));
  const reasons = [
    ...strange.map(({ name }) => `it sets ${name}`),
    ...unclear.map((what) => `it cannot be judged because of ${what}`),
  ];
  return reasons.map((reason) => ({
    denied: null,
    asked: null,
    harmless: false,
    allowed: false,
    reason,
    suggestion: null,
  }));
}

/** Rules that together would allow it all; none when one part has none. */
function suggestionsFor(open: readonly PartVerdict[]): string[] {
  const rules = open.flatMap(({ suggestion }) => suggestion ?? []);
  return rules.length < open.length ? [] : [...new Set(rules)];
}
