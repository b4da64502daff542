/**
 * What a program finds by itself, and no word names: configuration, plugins, tests, modules. Programs are listed with it unless they
 * are known to load nothing, or what they load is followed.
 */
import type { ScriptWord } from '../../../permission/shell/script-words.ts';
import { testRunner } from '../data-words.ts';
import type { StartedProgram } from '../started-programs.ts';
import { hasUnknownOption } from './interpreter-options.ts';
import { isPlain, manifestsOf } from './known-programs.ts';

/** Of those that run nothing of what their words name: they read a configuration of the project, or start what the system has for a file. */
const CONFIGURED = /^(?:biome|black|goimports|isort|open|prettier|ruff|rustfmt|tsc|xdg-open)$/;
/** Started with a script that counts, or with code that is read. */
const INTERPRETERS =
  /^(?:(?:ba|da|z|k|a)?sh|\.|source|eval|node(?:js)?|python[\d.]*|pypy[\d.]*|ruby|perl|php|lua[\d.]*|luajit|[gm]?awk)$/;
/** They start what their words say, and nothing else. */
const WRAPPERS =
  /^(?:builtin|command|exec|time|env|nice|ionice|chrt|taskset|nohup|setsid|timeout|gtimeout|stdbuf|unbuffer|xargs|find|fd|parallel|sudo|doas|flock|trap|cross-env)$/;
/** Their files are followed. */
const PACKAGERS = /^(?:npm|npx|pnpm|pnpx|yarn|bunx|corepack|npm-run-all|run-p|run-s)$/;
/** Modules of Python itself that load no others. */
const PYTHON_MODULES =
  /^(?:json\.tool|http\.server|venv|zipfile|tarfile|gzip|base64|calendar|uuid|platform|sysconfig|site|tokenize|ast|dis|inspect|textwrap|this|webbrowser)$/;
/** Where tools of others are installed. */
const INSTALLED = /(?:^|\/)(?:node_modules|vendor|\.?v?env|site-packages)\//;

export function isInstalled(path: string): boolean {
  return INSTALLED.test(path);
}

export interface LoadGround {
  /** It may be a file of the repository, which counts by itself. */
  isOwn(name: string): boolean;
  isOwnModule(name: string): boolean;
}

/** Under which name that is listed; null for what loads nothing. `own` is the word that starts it. */
export function loadedBy(
  program: StartedProgram,
  own: ScriptWord | undefined,
  ground: LoadGround,
): string | null {
  const { name, rest } = program;
  const [word = name] = own?.texts ?? [];
  const runner = testRunner(program);
  if (runner !== null) return runner;
  const isFile = word.includes('/') && ground.isOwn(word) && !isInstalled(word);
  if (isFile && manifestsOf(name).length === 0) return null;
  const texts = rest.flatMap(({ texts: [text = ''] }) => text);
  if (name === 'git') return texts.includes('lfs') ? 'git lfs' : null;
  if (INTERPRETERS.test(name)) {
    const module = /^py/.test(name) ? texts[texts.indexOf('-m') + 1] : undefined;
    if (module !== undefined && texts.includes('-m') && !PYTHON_MODULES.test(module))
      return ground.isOwnModule(module) ? null : module;
    return hasUnknownOption(name, texts) ? name : null;
  }
  if (/^\d+[smh]?$/.test(name) || WRAPPERS.test(name) || PACKAGERS.test(name)) return null;
  return isPlain(name) && !CONFIGURED.test(name) ? null : name;
}
