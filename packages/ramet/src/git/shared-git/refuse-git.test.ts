import { describe, expect, test } from 'vitest';
import { gitWords, refusedBesideOthers } from './git-words.ts';

const harm = (line: string): string | null => refusedBesideOthers(gitWords(line.split(' ')));

describe('WORK-1: git commands that harm others in a checkout are known by their words', () => {
  test.for([
    'stash',
    'stash -u',
    'stash push -- a.txt',
    'stash pop',
    'stash drop',
    'reset --hard',
    'reset --hard HEAD~1',
    'reset --keep HEAD~1',
    'clean -fd',
    'clean -ndf',
    'switch main',
    'switch -c new',
    'checkout -b new',
    'checkout -B new',
    'checkout --detach',
    'rebase main',
    'rebase --autostash main',
    'pull --rebase',
    'bisect start',
    'am x.patch',
    'read-tree -u HEAD',
    'checkout-index -fa',
    'sparse-checkout set a',
    '-c core.editor=true -C sub reset --hard',
  ])('%s is one', (line) => {
    expect(harm(line)).not.toBeNull();
  });

  test.for([
    'stash list',
    'stash show -p',
    'reset',
    'reset HEAD a.txt',
    'clean -n',
    'checkout -- -b',
    'checkout a.txt',
    'commit -am x',
    'merge main',
    'pull',
    'status',
    'sparse-checkout list',
    '--version',
  ])('%s is none', (line) => {
    expect(harm(line)).toBeNull();
  });
});
