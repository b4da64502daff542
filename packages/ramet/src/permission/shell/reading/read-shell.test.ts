import { beforeAll, describe, expect, test } from 'vitest';
import { loadShellParser, type ShellParser } from './parse-shell.ts';
import { readShell } from './read-shell.ts';

let parser: ShellParser;
beforeAll(async () => {
  parser = await loadShellParser();
});

const read = (script: string) => readShell(parser, script, ['/srv']);
const commandsOf = (script: string): string[] =>
  read(script).commands.map(({ words }) => words.map(({ value }) => value ?? '?').join(' '));

describe('TYPE-2: a script is read from its syntax tree', () => {
  test.for<[string, string[]]>([
    ['a; b && c || d | e & f', ['a', 'b', 'c', 'd', 'e', 'f']],
    ['a $(b "$(c)") `d` <(e)', ['c', 'b ?', 'd', 'e', 'a ? ? ?']],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['for x in 1 2; do a "$x"; done', ['a ?']],
    ['case $x in y) a;; *) b;; esac', ['a', 'b']],
    ['(a; { b; }) > f', ['a', 'b']],
    ['a <<EOF\n$(b)\nEOF', ['a', 'b']],
    [`r\\m 'a b' "c $d" $'\\x41' e"f"'g'`, ['rm a b ? A efg']],
    ['a *.ts {b,c} ~/d [e] stash@{0}', ['a ? ? ? ? stash@{0}']],
    ['a # b', ['a']],
  ])('%j runs %j', ([script, commands]) => {
    expect(commandsOf(script)).toEqual(commands);
    expect(read(script).unclear).toEqual([]);
  });

  test('redirects are files, and descriptors are not', () => {
    const { files } = read('a < in > out 2>> log 2>&1 &> both >| over 2>/dev/null');
    expect(files.map(({ access, word }) => `${access} ${word.value}`)).toEqual([
      'read in',
      'write out',
      'write log',
      'write both',
      'write over',
    ]);
  });

  test('the directory is followed where it is known, and both places stay possible', () => {
    const { commands } = read('cd a && b; (cd /c && d); e; cd "$x"; f');
    const places = commands.map(({ words, directories }) => [words[0]?.value, directories]);
    expect(places).toEqual([
      ['cd', ['/srv']],
      ['b', ['/srv', '/srv/a']],
      ['cd', ['/srv', '/srv/a']],
      ['d', ['/srv', '/srv/a', '/c']],
      ['e', ['/srv', '/srv/a']],
      ['cd', ['/srv', '/srv/a']],
      ['f', null],
    ]);
  });

  test.for<[string, string]>([
    ['f() { a; }', 'a function'],
    ["a 'b", 'its syntax'],
    ['a \u0007', 'control characters'],
    ['a\u00a0b', 'invisible characters'],
    ['a \u202e', 'invisible characters'],
    ['a \u2066', 'invisible characters'],
    ['a \u009b', 'invisible characters'],
    [`a ${'x'.repeat(20_000)}`, 'its length'],
    ['echo $((x[1]))', 'subscript in arithmetic'],
    [`echo \${x@P}`, 'the expansion'],
    ['a < /dev/tcp/b/1', 'a connection that the shell opens'],
  ])('%j cannot be judged because of %s', ([script, reason]) => {
    expect(read(script).unclear.join()).toContain(reason);
  });
});
