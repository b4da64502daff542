/** What is mutated: every command of the corpora, harmless and dangerous, and scripts that lie between them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRINTING } from './options.ts';

const PACKAGE = join(import.meta.dirname, '../../packages/ramet');
const CORPORA = [
  'src/permission/shell/harmless-commands.txt',
  'src/permission/shell/reading-commands.txt',
  'src/permission/shell/dangerous-commands.txt',
  'src/permission/shell/more-dangerous-commands.txt',
  'test/fixtures/write-attempts.txt',
  'test/fixtures/reading-commands.txt',
];

/** Close to an effect: one sign more or less, and it happens. */
const BETWEEN = [
  'echo "touch pwn"',
  "echo 'touch pwn' # ; touch pwn",
  "grep -n 'touch pwn' README.md | head -1",
  'ls "$(echo .)"; echo "touch pwn"',
  'cat <<EOF\ntouch pwn\nEOF',
  "cat <<'EOF'\n$(touch pwn)\nEOF",
  'for f in a b; do echo "$f"; done',
  'for f in *.md; do wc -l "$f"; done',
  'if [ -f f ]; then echo "> pwn"; fi',
  '[ 3 = 2 ] || echo ">" pwn',
  '[[ a < b ]] && echo "a > pwn"',
  'awk \'{ print $1 " > pwn" }\' data.csv',
  "sed -n 's/a/touch pwn/p' README.md",
  "find . -name '*.md' -exec grep -l touch {} +",
  "find . -name '*.md' -exec head -1 {} \\;",
  'x=pwn; echo "$x"; ls "$x"',
  "sh -c 'echo touch pwn'",
  'bash -c \'echo "> pwn"\'',
  "printf '%s\\n' 'touch pwn' ./evil.sh",
  'echo a\\ b \\> pwn',
  'echo "a\\$(touch pwn)"',
  "echo $'touch pwn\\n'",
  'sort README.md -- -o pwn',
  'git log --grep="--output=pwn" -1',
  'echo {a,b}{1,2} touch pwn',
  'case x in a|b) echo touch pwn;; esac',
  '{ echo a; echo b; } | sort | uniq -c',
  '(cd src && ls; echo "touch pwn")',
  'cat < README.md | tr a-z A-Z',
  'ls 2>/dev/null || echo "touch pwn"',
  'while read -r l; do echo "$l"; done < f',
  'ls | xargs -n1 echo touch pwn',
  'test -f f && cat f',
  'cat f; cat VERSION; cat script',
  'echo $(( 1 + 2 )) touch pwn',
  'i=0; echo $((i + 1))',
  'diff <(cat f) <(cat VERSION)',
  'wc -l <<< "touch pwn"',
  'cat 127.0.0.1 < README.md',
  'cat < README.md # /dev/tcp/127.0.0.1/8099',
];

export function seedScripts(): string[] {
  const lines = CORPORA.flatMap((name) =>
    readFileSync(join(PACKAGE, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#')),
  );
  return [...new Set([...BETWEEN, ...PRINTING, ...lines.map((line) => line.replaceAll('⏎', '\n'))])];
}
