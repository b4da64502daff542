/**
 * A script taken apart completely: wrappers looked through, and the scripts that `bash -c` and `eval` carry read like
 * any other.
 */
import type { ShellParser } from './parse-shell.ts';
import { readShell } from './read-shell.ts';
import type { ShellCommand, ShellReading } from './shell-reading.ts';
import { innerScript, unwrapCommand } from './unwrap-command.ts';

/** A command and what it wraps, outermost first. */
export interface CommandLayers {
  layers: readonly [ShellCommand, ...ShellCommand[]];
  /** What it runs is in the list by itself: the command inside `bash -c`. */
  transparent: boolean;
}

export interface UnderstoodScript extends Pick<ShellReading, 'files' | 'variables' | 'unclear'> {
  commands: CommandLayers[];
}

const DEEPEST = 5;

export function understandScript(
  parser: ShellParser,
  script: string,
  directories: readonly string[] | null,
  depth = 0,
): UnderstoodScript {
  const { commands, files, variables, unclear } = readShell(parser, script, directories);
  const understood: UnderstoodScript = { commands: [], files, variables, unclear };
  for (const command of commands) {
    const layers = layersOf(command);
    const inner = layers.at(-1) ?? command;
    const script = depth < DEEPEST ? (innerScript(inner)?.script ?? null) : null;
    understood.commands.push({ layers, transparent: script !== null });
    if (script === null) continue;
    const carried = understandScript(parser, script, inner.directories, depth + 1);
    // What eval sets stays set: the rest of the script was read without it.
    if (inner.words[0]?.value === 'eval' && carried.variables.length > 0)
      unclear.push('variables that eval sets');
    addScript(understood, carried);
  }
  return understood;
}

function layersOf(command: ShellCommand): [ShellCommand, ...ShellCommand[]] {
  const inner = unwrapCommand(command);
  return inner === null ? [command] : [command, ...layersOf(inner)];
}

function addScript(into: UnderstoodScript, { commands, files, variables, unclear }: UnderstoodScript): void {
  into.commands.push(...commands);
  into.files.push(...files);
  into.variables.push(...variables);
  into.unclear.push(...unclear);
}
