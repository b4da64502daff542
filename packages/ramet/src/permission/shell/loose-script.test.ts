import { describe, expect, test } from 'vitest';
import { looseScript } from './loose-script.ts';
import { looseWord } from './loose-word.ts';

const commands = (script: string): string[] =>
  looseScript(script).commands.map(({ words }) => words.join(' '));

describe('a script that is read loosely', () => {
  test.for([
    ['a b; c && d | e & f', ['a b', 'c', 'd', 'e', 'f']],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['while a; do b; done; until c; do d; done', ['a', 'b', 'c', 'd']],
    ['case "$1" in a|b) c ;; (d) e;; *) f;; esac; g', ['c', 'e', 'f', 'g']],
    ['case $1 in\n  # first\n  "x y") a ;&\n  *.ts) b ;;\nesac\nc', ['a', 'b', 'c']],
    ['case a in a) case b in b) c;; esac;; d) e;; esac', ['c', 'e']],
    ['f() { a; }\nfunction g { b; }\nfunction h() { c; }', ['a', 'b', 'c']],
    ['( a; b ); { c; }', ['a', 'b', 'c']],
    ['[[ -f x && ( a < b || $c =~ ^(d|e)$ ) ]] && f', ['f']],
    ['(( x > 1 )) && a; for ((i=0; i<3; i++)); do b; done', ['a', 'b']],
    ['x=$(a "$(b)") c "`d`"', ['b', 'a "$(b)"', 'd', 'c "`d`"']],
    ['a <(b) > >(c)', ['b', 'c', 'a <(b)']],
    ['a # b\n#c\nd', ['a', 'd']],
    ["a '; b' \"; $(c) ' ;\" \\; d", ['c', "a '; b' \"; $(c) ' ;\" \\; d"]],
    ['a \\\n b', ['a b']],
    ['x=(a b $(c)); d', ['c', 'd']],
    ['a > b < c 2>&1 >> d <<< e f', ['a f']],
    ["a ${b:-$(c)} ${#d} $((1 + 2)) $'e;'", ['c', "a ${b:-$(c)} ${#d} $((1 + 2)) $'e;'"]],
    ['! time a', ['a']],
  ] as const)('has the commands of %s', ([script, expected]) => {
    expect(commands(script)).toEqual(expected);
    expect(looseScript(script).isWhole).toBe(true);
  });

  test('has here-documents, redirects, functions and variables', () => {
    const script = looseScript(
      'f() { :; }\nsh <<EOF > out\na\nEOF\ncat <<-"X Y" <<Z; b\n\tc\n\tX Y\nd\nZ\nA=1 B+=2 e < in\nexport C=$A\nfor d in x "y z"; do :; done\nread -r g\n',
    );
    expect(script.commands.find(({ words: [name] }) => name === 'sh')).toMatchObject({
      body: 'a',
      input: null,
    });
    expect(script.commands.find(({ words: [name] }) => name === 'cat')?.body).toBe('d');
    expect(script.commands.find(({ words: [name] }) => name === 'e')?.input).toBe('in');
    expect([script.outputs, [...script.functions]]).toEqual([['out'], ['f']]);
    expect(script.variables.map(({ name, source }) => [name, source])).toEqual([
      ['A', '1'],
      ['B', undefined],
      ['C', '$A'],
      ['d', 'x'],
      ['d', '"y z"'],
      ['g', undefined],
    ]);
  });

  test.for(['a "b', "a 'b", 'a $(b', 'a ${b', 'a <<EOF\nb', 'case x', 'case x in a) b;;', '[[ a', '(('])(
    'is not whole with %s, and reading ends',
    (script) => {
      expect(looseScript(script).isWhole).toBe(false);
    },
  );

  test('is read in time in proportion to its length, however deep it is nested', () => {
    for (const part of [
      '$(',
      '((',
      '"$(',
      '${',
      'case x in ',
      '<<E\n',
      '`',
      '[[ ',
      '(',
      'a=(',
      '<(',
      '$(a "b',
    ])
      expect(looseScript(part.repeat(20_000)).commands.length).toBeLessThan(20_000);
  }, 10_000);
});

describe('a word of such a script', () => {
  const variables = [
    { name: 'D', value: null, source: '"$(cd "$(dirname /r/hooks/a.sh)" && pwd)"' },
    { name: 'E', value: null, source: 'one' },
    { name: 'E', value: null, source: 'two' },
    { name: 'F', value: null },
  ];
  test.for([
    ['"$D/lib.sh"', ['/r/hooks/lib.sh'], null],
    ['${D}/../x', ['/r/hooks/../x'], null],
    ['$E.sh', ['one.sh', 'two.sh'], null],
    ['"$F"', [], 'unknown'],
    ['"$G"', [], 'unknown'],
    ['"${G:-x}"', ['x'], null],
    ['"$1"', [], 'unknown'],
    ['x/*.sh', ['x/*.sh'], 'pattern'],
    ['"x/*.sh"', ['x/*.sh'], null],
    ['$(git rev-parse --show-toplevel)/x', ['/r/x'], null],
    ['${D%/*}', [], 'unknown'],
  ] as const)('%s', ([source, texts, open]) => {
    expect(looseWord(source, variables, '/r')).toMatchObject({ texts, open });
  });
});
