/**
 * Task files for runs that are killed. Each task leaves files that are the same however often it is done and in
 * whatever order, so every run of a plan must end with one tree.
 */
import { IDENTITY } from '../../packages/ramet/test/fixtures/merge-repository.ts';

export const SHAPES = [
  'chain',
  'wide',
  'conflicts',
  'together',
  'compete',
  'checkout',
  'clone',
  'partition',
  'propose',
  'team',
] as const;
type OperatorShape = (typeof SHAPES)[number];

export interface OperatorPlan {
  name: string;
  /** What its file says. */
  tasks: string;
  /** Of `ramet operate`, for the first start. */
  flags: string[];
  /** The target is checked out, and moves with its files. */
  isCheckedOut: boolean;
  env: Record<string, string>;
  settings: Record<string, unknown>;
  files: Record<string, string>;
}

const CHECK = `#!/bin/sh
# Work that says it is bad does not pass; a list is sorted and has each word once.
sleep 0.1
! grep -rqs --include='*.txt' bad . || exit 1
sort -u list.txt | cmp -s - list.txt
`;

/** \`[P]\` tasks wait for the last one without it: of a plan's first lines, all start at once. */
const TASKS: Readonly<Record<OperatorShape, readonly string[]>> = {
  chain: [
    ...['T001 Write one.txt', 'T002 [P] Build two.txt', 'T003 [P] Write three.txt (depends on T001)'],
    ...['T004 Build four.txt (depends on T003)', 'T005 [P] Write five.txt (depends on T002)'],
  ],
  wide: ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'].map(
    (name, index) => `T00${index + 1} [P] Build ${name}.txt`,
  ),
  conflicts: [
    ...['T001 [P] List pear', 'T002 [P] List apple', 'T003 [P] Write one.txt'],
    'T004 Better four.txt (depends on T003)',
  ],
  together: [
    ...['T001 [P] Build one.txt', 'T002 [P] List plum', 'T003 [P] Write three.txt'],
    'T004 Write four.txt (depends on T001)',
  ],
  compete: ['T001 [P] Build one.txt', 'T002 [P] Write two.txt', 'T003 Write three.txt (depends on T001)'],
  checkout: [
    ...['T001 [P] Build one.txt', 'T002 [P] List plum', 'T003 Write three.txt (depends on T001)'],
    'T004 Build four.txt (depends on T002)',
  ],
  clone: [
    ...['T001 [P] Build one.txt', 'T002 [P] List plum', 'T003 [P] List apple'],
    'T004 Write four.txt (depends on T001)',
  ],
  partition: [
    ...['T001 [P] Write one.txt\n  - **Files**: one.txt', 'T002 [P] Write two.txt\n  - **Files**: two.txt'],
    ...['T003 [P] List plum\n  - **Files**: list.txt'],
    'T004 Write four.txt (depends on T001)\n  - **Files**: four.txt',
  ],
  propose: [
    ...['T001 [P] Propose one.txt', 'T002 [P] Propose two.txt', 'T003 [P] Propose three.txt'],
    'T004 Propose four.txt (depends on T001)',
  ],
  team: [
    ...['T001 [P] Build one.txt', 'T002 [P] List plum', 'T003 [P] List apple'],
    ...['T004 Better four.txt (depends on T001)', 'T005 [P] Write five.txt (depends on T002)'],
  ],
};

const FLAGS: Readonly<Record<OperatorShape, readonly string[]>> = {
  chain: [],
  wide: ['--parallel', '4'],
  conflicts: ['--retries', '5'],
  together: ['--policy', 'all'],
  compete: ['--policy', 'first', '--attempts', '2', '--parallel', '4'],
  checkout: ['--update-checkout'],
  clone: ['--isolation', 'clone', '--retries', '5'],
  partition: ['--isolation', 'partition'],
  propose: ['--isolation', 'propose'],
  team: ['--pattern', 'team', '--parallel', '3', '--retries', '5'],
};

export function operatorPlan(shape: OperatorShape, executor: 'in-process' | 'process'): OperatorPlan {
  return {
    name: `${shape}, ${executor}`,
    tasks: `# Tasks\n\n${TASKS[shape].map((line) => `- [ ] ${line}\n`).join('')}`,
    flags: ['--into', 'main', '--check', 'sh check.sh', ...PERMITTED, ...FLAGS[shape]],
    isCheckedOut: shape === 'checkout',
    env: { ...IDENTITY },
    settings: { agents: { executor }, sandbox: { readOnly: 'off', worktree: 'off' } },
    files: {
      ...{ 'README.md': '# Work\n', 'list.txt': 'fig\n', 'check.sh': CHECK },
      ...Object.fromEntries(
        Array.from({ length: 40 }, (_, n) => [`src/f${n}.txt`, `line ${n}\n`.repeat(30)]),
      ),
    },
  };
}

const PERMITTED = ['--permission-mode', 'bypassPermissions'];

/** The ids of a plan's tasks. */
export function taskIds({ tasks }: Pick<OperatorPlan, 'tasks'>): string[] {
  return [...tasks.matchAll(/^- \[ \] (T\d+)/gm)].map(([, id = '']) => id);
}
