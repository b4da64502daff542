import { expect, test } from 'vitest';
import { editedFiles } from './edited-files.ts';

test.for([
  ["sed -i 's/a/b/' src/a.ts", ['/p/s/a/b', '/p/src/a.ts']],
  ["sed -i.bak -e 's/1/2/' src/a.ts && npm test", ['/p/s/1/2', '/p/src/a.ts']],
  ["perl -pi -e 's/1/2/' src/a.ts", ['/p/s/1/2', '/p/src/a.ts']],
  ['echo x > src/a.ts', ['/p/src/a.ts']],
  ['npm test 2>&1 | tee out.log', ['/p/out.log']],
  ['cd src && cat > a.ts <<EOF\nx\nEOF', ['/p/src/a.ts']],
  ['cp /tmp/a.ts src/a.ts', ['/p/src/a.ts']],
  ['mv a b', ['/p/a', '/p/b']],
  ['dd if=a of=src/a.ts', ['/p/src/a.ts']],
  ['git checkout HEAD -- src/a.ts', ['/p/HEAD', '/p/src/a.ts']],
  ['env X=1 sed -i d src/a.ts', ['/p/d', '/p/src/a.ts']],
  // What only reads or runs, and what nobody can know.
  ["sed -n '1,5p' src/a.ts", []],
  ['npm test; node build.js; make all; rm -rf build', []],
  ['git status && git diff src/a.ts && git stash list', []],
  ['sed -i d "$FILE"', ['/p/d']],
] as const)('RES-3: %s', async ([script, files]) => {
  expect(await editedFiles(script, '/p')).toEqual(files);
});
