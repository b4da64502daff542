/**
 * The pattern `propose`: agents only read, and answer with a patch. It is applied here, on a commit of its own that goes through the
 * merge queue as any other. A patch that does not apply, or that conflicts with what others have finished, goes back to its agent with the reason.
 */

import { changedPaths, keepWork } from '../../../../git/left-work.ts';
import { withScratch } from '../../../../git/managed-worktrees.ts';
import { callIn, mergeTrees } from '../../../../git/merges.ts';
import { withTrailers } from '../../../../git/provenance.ts';
import { type GitCall, gitText, runGit } from '../../../../git/run-git.ts';
import type { MergeRepository } from '../../../../git/shapes.ts';
import { fencedBlocks } from '../../../../model/recipe/fenced-blocks.ts';
import type { AttemptOrder } from '../../../../operator/run/ports.ts';
import { describeError } from '../../../../schema/errors.ts';
import {
  type AttemptObjection,
  type AttemptPattern,
  type AttemptWork,
  type ChangingWork,
  taskLine,
  withoutChanges,
  workRef,
} from './attempt-pattern.ts';
import { strayLinks } from './nested-repositories.ts';
import { type PatchRules, refusedFile } from './patch-permission.ts';
import type { ReadingCheckouts } from './reading-checkouts.ts';
import { submoduleObjection } from './submodule-objection.ts';

const MOST_ROUNDS = 3;
const LONGEST_PATCH = 2_000_000;
const LONGEST_FILE = 6_000;
const MOST_CONFLICTS = 5;

export interface ProposePlace {
  checkouts: ReadingCheckouts;
  repository: MergeRepository;
  /** For temporary indexes. */
  scratch: string;
  session: string;
  rules: PatchRules;
  /** What an agent of an earlier process said last. */
  lastText(agent: string): Promise<string>;
}

export function proposePattern(place: ProposePlace): AttemptPattern {
  const { checkouts } = place;
  const leave = (order: AttemptOrder): Promise<void> => checkouts.leave(order.attempt.name, baseOf(order));
  return {
    isolation: 'propose',
    expect: (order) => checkouts.expect(order.attempt.name, baseOf(order)),
    prepare: async (order) => ({
      workspace: await checkouts.enter(order.attempt.name, baseOf(order)),
      readOnly: true,
    }),
    siteOf: async () => ({ branch: null, path: null }),
    async collect(order, ended, tell) {
      for (let [round, current] = [1, ended]; ; round++) {
        const { status, text } = current.result;
        if (status !== 'done') return current;
        const patch = patchIn(text ?? (await place.lastText(current.id)));
        const outcome = await applied(patch, { order, round, place });
        if (outcome === null || !('more' in outcome) || round === MOST_ROUNDS) {
          await leave(order);
          if (outcome === null || !('more' in outcome)) return outcome;
          return { cause: outcome.cause, message: `${outcome.message} (${MOST_ROUNDS} rounds)` };
        }
        current = await tell(`${outcome.message}\n${outcome.more}`);
      }
    },
    async abandon(order) {
      await leave(order);
      return { branch: null };
    },
  };
}

function baseOf({ attempt, run }: AttemptOrder): string {
  return attempt.base ?? run.base;
}

/** The text of the patch; empty for one that changes nothing, null if the text has no patch. */
function patchIn(text: string): string | null {
  const blocks = fencedBlocks(text).filter(({ language }) => language === 'diff' || language === 'patch');
  if (blocks.length > 0) return blocks.map(({ content }) => whole(content)).join('');
  const at = text.search(/^(?:diff --git |--- (?:a\/|\/dev\/null))/m);
  return at === -1 ? null : whole(text.slice(at));
}

/** As git wants it to end: a binary part with an empty line, any other without. */
function whole(patch: string): string {
  const isBinary = /^GIT binary patch$/m.test(patch.split(/^diff --git /m).at(-1) ?? '');
  return `${patch.replace(/\n+$/, '')}\n${isBinary ? '\n' : ''}`;
}

/** Why a patch goes back: a stable word, a line, and what its agent has to know besides. */
interface Refusal {
  cause: string;
  message: string;
  more: string;
}

interface Application {
  order: AttemptOrder;
  round: number;
  place: ProposePlace;
}

/** Null for a patch that changes nothing. */
async function applied(
  patch: string | null,
  { order, round, place }: Application,
): Promise<AttemptWork | AttemptObjection | Refusal | null> {
  if (patch === null)
    return {
      ...{ cause: 'no_patch', message: 'There is no block that begins with ```diff in your answer.' },
      more: 'Answer with the patch, or with an empty block if nothing is to be changed.',
    };
  if (patch.trim() === '') return null;
  if (patch.length > LONGEST_PATCH)
    return { cause: 'bad_patch', message: `The patch is longer than ${LONGEST_PATCH} characters.`, more: '' };
  const absolute = /^--- .*\n\+\+\+ "?(\/(?!dev\/null$).*)\n@@/m.exec(patch)?.[1];
  if (absolute !== undefined)
    return {
      ...{ cause: 'bad_patch', message: `The patch names the absolute path ${absolute}.` },
      more: 'Answer with the whole patch again, with paths from the top of the repository: +++ b/src/file.',
    };
  const call = callIn(place.repository);
  const head = await gitText(['rev-parse', '--verify', `${order.run.integration}^{commit}`], call);
  // After a conflict it is made for the files as they are now.
  const bases = round === 1 ? [baseOf(order), head] : [head, baseOf(order)];
  let refusal: Refusal | null = null;
  for (const base of new Set(bases)) {
    const tree = await treeOfPatch(patch, base, { call, scratch: place.scratch });
    if ('reason' in tree) {
      refusal ??= { cause: 'bad_patch', message: `The patch does not apply: ${tree.reason}.`, more: AGAIN };
      continue;
    }
    const work = await committed(order, { base, tree: tree.id, call, place });
    if (work !== null && 'refused' in work)
      return { cause: 'not_permitted', message: work.refused, more: REST };
    const objection = work && (await linkObjection(order, work, { call, place }));
    if (objection !== null) return objection;
    const conflicts = work === null || base === head ? [] : await conflictsOf(head, work.commit, call);
    if (conflicts.length === 0) return withoutChanges(work);
    refusal = await conflictRefusal(conflicts, head, call);
  }
  return refusal;
}

const AGAIN = 'Read the files again, and answer with the whole patch in one block that begins with ```diff.';

const REST =
  'Answer with the whole patch again, without what is not permitted, in one block that begins with ```diff.';

async function treeOfPatch(
  patch: string,
  base: string,
  { call, scratch }: { call: GitCall; scratch: string },
): Promise<{ id: string } | { reason: string }> {
  return withScratch(scratch, async (index) => {
    const own = { ...call, index };
    await gitText(['read-tree', base], own);
    const args = ['apply', '--cached', '--recount', '--whitespace=nowarn', '-'];
    const { code, stderr } = await runGit(args, { ...own, input: patch });
    if (code !== 0)
      return {
        reason: describeError(stderr)
          .replace(/^error: /, '')
          .slice(0, 500),
      };
    return { id: await gitText(['write-tree'], own) };
  });
}

/** Null if the patch leaves everything as it is. */
async function committed(
  { run, task, attempt }: AttemptOrder,
  { base, tree, call, place }: { base: string; tree: string; call: GitCall; place: ProposePlace },
): Promise<ChangingWork | { refused: string } | null> {
  const changes = await changedPaths(`${base}^{tree}`, tree, call);
  if (changes.length === 0) return null;
  const refused = await refusedFile(
    changes.map(({ path }) => path),
    place.rules,
  );
  if (refused !== null) return { refused };
  const about = {
    session: place.session,
    task: taskLine(task),
    ...(attempt.agent !== null && { agent: attempt.agent }),
  };
  const ref = workRef(run, attempt.name);
  const commit = await keepWork({ ref, base, tree, message: withTrailers(task.title, about) }, call);
  return { commit, branch: ref, files: changes.map(({ path }) => path), changes };
}

/** A patch can name any commit of a submodule, and what is none. */
async function linkObjection(
  order: AttemptOrder,
  work: ChangingWork,
  { call, place }: { call: GitCall; place: ProposePlace },
): Promise<AttemptObjection | null> {
  const [stray] = await strayLinks(work.commit, work.changes, call);
  if (stray !== undefined)
    return {
      cause: 'bad_patch',
      message: `The patch adds ${stray} as a submodule that .gitmodules does not declare.`,
    };
  const { commonDirectory } = place.repository;
  return submoduleObjection(order, work, { commonDirectory, directory: null, call });
}

async function conflictsOf(head: string, commit: string, call: GitCall): Promise<readonly string[]> {
  const merged = await mergeTrees([head, commit], call);
  return merged.clean ? [] : merged.files;
}

/** With the files as they are now, as far as they fit. */
async function conflictRefusal(files: readonly string[], head: string, call: GitCall): Promise<Refusal> {
  const shown = await Promise.all(
    files.slice(0, MOST_CONFLICTS).map(async (file) => {
      const { code, stdout } = await runGit(['show', `${head}:${file}`], call);
      if (code !== 0) return `${file} is gone.`;
      const cut = stdout.length > LONGEST_FILE ? '\n(cut here)' : '';
      return `<file path="${file}">\n${stdout.slice(0, LONGEST_FILE)}${cut}\n</file>`;
    }),
  );
  return {
    cause: 'conflict',
    message: `The patch conflicts with what others have finished meanwhile, in ${files.join(', ')}.`,
    more: `As they are now:\n${shown.join('\n')}\nAnswer with the whole patch again, made for them as they are now, in one block that begins with \`\`\`diff.`,
  };
}
