/** A rule that would allow a command and its like. Programs that run whatever they are given get the exact command. */
import { basename } from 'node:path';
import { parseCommandPattern } from '../command-pattern.ts';
import { textsOf } from './command-rules.ts';
import type { ShellCommand } from './shell-reading.ts';

/** Their first argument says what they do. */
const DISPATCHERS =
  /^(?:git|npm|yarn|pnpm|bun|deno|npx|cargo|go|docker|kubectl|pip|pip3|gh|make|dotnet|mvn|gradle|\.\/gradlew|poetry|uv|bundle|rake|composer|terraform|brew|systemctl)$/;
const RUNS_ANYTHING =
  /^(?:sudo|doas|su|(?:ba|z|da|k|fi)?sh|eval|source|\.|exec|env|xargs|find|ssh|perl|ruby|php|node|deno|python[\d.]*|awk|sed|rm|dd|chmod|chown|curl|wget|nc|parallel|watch|timeout|npx|setsid|coproc|trap|alias|let|hash|enable|vim?|tar|tee|cp|mv|ln|kill|busybox)$/;

export function suggestCommandRule(command: ShellCommand): string | null {
  const [name, first, second] = command.words.map(({ value }) => value);
  if (name === null || name === undefined) return null;
  const known = command.words.every(({ value }) => value !== null);
  const exact = known && command.words.length > 1 ? (textsOf(command).giving[0] ?? '') : '';
  if (RUNS_ANYTHING.test(basename(name)) || command.assignments.length > 0) return usable(exact);
  if (!DISPATCHERS.test(name)) return usable(`${name}:*`);
  if (first === null || first === undefined || first.startsWith('-')) return usable(exact);
  if (first === 'run' && second !== null && second !== undefined) return usable(`${name} run ${second}:*`);
  return usable(`${name} ${first}:*`);
}

function usable(specifier: string): string | null {
  return specifier !== '' && parseCommandPattern(specifier).ok ? `Bash(${specifier})` : null;
}
