/** The permission rules of a session: those it starts with, and those it had when it is resumed. */
import { statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { JournalReader } from '../../../journal/journal.ts';
import {
  describeProblem,
  joinRules,
  parseRules,
  type RuleOrigin,
  type RuleSet,
  type RuleTexts,
  type SessionRules,
  sessionRules,
} from '../../../permission/policy.ts';
import { UserMistake } from '../../../schema/errors.ts';
import type { GivenRights } from '../../../schema/status.ts';
import { literalGlob } from '../../../system/glob-pattern.ts';
import { managedFolders, rametHome } from '../../../system/home.ts';
import { hasLogins, loginFolder } from '../../../system/stored-logins.ts';
import type { ResolvedOptions } from '../../options.ts';
import type { Place } from '../../place.ts';
import { closedWays } from '../../policy.ts';

/** The rules a session starts with; `tools` are those that it has besides the built-in ones. A rule that protects nothing is refused, not ignored. */
export function openRules(
  {
    permissions,
    env,
    others = [],
    settings,
    additionalDirectories = [],
    alsoDirectories = [],
    ruleOrigins = [],
  }: ResolvedOptions,
  { cwd, repository }: Place,
  tools: readonly string[],
): SessionRules {
  const origin = { base: repository?.root ?? cwd, home: env.HOME || null, tools };
  const rules = rulesByPlace(permissions, ruleOrigins).map(([place, texts]) =>
    readRules(texts, { ...origin, place }),
  );
  const narrowing = others.map(
    ({ place, base, texts }) => parseRules(texts, { ...origin, base, place }).rules,
  );
  return sessionRules(
    joinRules(
      {
        ...{ ...joinRules(...rules), closed: closedWays(settings) },
        folders: [...foldersOf(additionalDirectories, cwd), ...alsoDirectories.filter(isDirectory)],
        guarded: guardedPlaces(env),
      },
      ...keptLogins(rametHome(env), origin),
      ...narrowing,
    ),
    origin,
  );
}

/** In the order of their lists. A rule that the caller gave, too, is in the file that has it. */
export function rulesByPlace(
  permissions: RuleTexts,
  origins: NonNullable<ResolvedOptions['ruleOrigins']>,
): [place: string, texts: RuleTexts][] {
  const known = new Map(origins.map(({ list, text, place }) => [`${list} ${text}`, place]));
  const places = new Map<string, Record<'allow' | 'ask' | 'deny', string[]>>();
  for (const list of ['allow', 'ask', 'deny'] as const)
    for (const text of permissions[list] ?? []) {
      const place = known.get(`${list} ${text}`) ?? 'the options';
      const texts = places.get(place) ?? { allow: [], ask: [], deny: [] };
      texts[list].push(text);
      places.set(place, texts);
    }
  return [...places];
}

/** Only after a login: any rule makes Ramet read the commands of agents that may do everything. */
function keptLogins(home: string, origin: Omit<RuleOrigin, 'place'>): RuleSet[] {
  const folder = loginFolder(home);
  if (!hasLogins(folder)) return [];
  const deny = [`Read(/${literalGlob(folder)}/**)`];
  return [readRules({ deny }, { ...origin, place: 'Ramet itself' })];
}

/**
 * What sessions load without asking for trust, by where it is: a person may keep it under another name and link to it, as
 * in a repository of dotfiles.
 */
function guardedPlaces(env: ResolvedOptions['env']): string[] {
  const { HOME: user = '' } = env;
  const own = isAbsolute(user) ? [user] : [];
  const folders = [rametHome(env), ...managedFolders(env), ...own.map((home) => join(home, '.claude'))];
  const files = own.map((home) => join(home, '.claude.json'));
  return [...folders, ...files, ...folders.flatMap((folder) => LOADED.map((name) => join(folder, name)))];
}

/** Of such a folder; each may be a link of its own. */
const LOADED = ['settings.json', 'agents', 'skills', 'commands', 'plugins'];

function isDirectory(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}

export function foldersOf(paths: readonly string[], cwd: string): string[] {
  return paths.map((path) => {
    const folder = resolve(cwd, path);
    if (!isDirectory(folder))
      throw new UserMistake(
        'no_directory',
        `there is no directory ${folder}: give one that is there (additionalDirectories, --add-dir)`,
      );
    return folder;
  });
}

function readRules(texts: RuleTexts, origin: RuleOrigin): RuleSet {
  const { rules, problems } = parseRules(texts, origin);
  const [problem] = problems;
  if (problem !== undefined) throw new UserMistake('bad_rule', describeProblem(problem));
  return rules;
}

interface RecalledParts {
  readonly tools: readonly string[];
  /** What is on record. */
  readonly given: Required<GivenRights>;
}

/**
 * What a session was given holds for as long as it is resumed, and so do an answer "always" and the rules of a run of tasks.
 * What can no longer be read as a rule is dropped: then the question is asked again.
 */
export function recallRules(
  permissions: SessionRules,
  reader: JournalReader,
  { cwd, repository }: Place,
  { env, settings, tools, given }: Pick<ResolvedOptions, 'env' | 'settings'> & RecalledParts,
): void {
  const origin = { base: repository?.root ?? cwd, home: env.HOME || null };
  const { folders, allow, ...narrowing } = given;
  const own = { ...narrowing, allow: closedWays(settings)?.rules === true ? [] : allow };
  const { rules } = parseRules(own, { ...origin, tools, place: 'the options' });
  const there = folders.filter(isDirectory);
  permissions.add({ ...rules, folders: there });
  let run: RuleTexts = {};
  const types = ['permission.answered', 'operator.started', 'operator.resumed'] as const;
  for (const { event } of reader.events({ types })) {
    if (event.type === 'permission.answered') permissions.allow(event.rules);
    if (event.type === 'operator.started') run = event.run.rules ?? {};
    if (event.type === 'operator.resumed') run = event.change?.rules ?? run;
  }
  permissions.add(readRules(run, { ...origin, tools, place: 'the run' }));
}
