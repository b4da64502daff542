import { describe, expect, test } from 'vitest';
import { awkOnlyPrints } from './awk-program.ts';
import { sedOnlyPrints } from './sed-script.ts';

describe('TYPE-2: a sed script that only prints', () => {
  test.for([
    'p',
    '1,5p',
    '$d',
    '/a/,/b/p',
    '/a/!d',
    's/a/b/',
    's|a|b|g;s/c/d/2p',
    '1{p;q}',
    '/x/{n;p}',
    'y/abc/def/',
    '0~3p',
    '5q',
    '/a\\/b/p',
    '',
  ])('is %j', (script) => {
    expect(sedOnlyPrints(script)).toBe(true);
  });

  test.for([
    'w f',
    '1w f',
    's/a/b/w f',
    's/a/b/e',
    's/a/b/ge',
    '1e rm x',
    'e',
    '/a/{w f\n}',
    'p;w f',
    'W f',
    'r f',
    ':a;ba',
    's/a/b',
    'sxaxbx',
    '\\,a,w f',
  ])('is not %j', (script) => {
    expect(sedOnlyPrints(script)).toBe(false);
  });
});

describe('TYPE-2: an awk program that only prints', () => {
  test.for([
    '{print $1}',
    '$3 > 5',
    '/a|b/ {n++} END {print n}',
    '{print "a > b | c"}',
    '{s += $1} END {print s / NR}',
    'NR==1 || NR==3',
    '{ if ($1 > 2) print $2; else print $3 }',
    '',
  ])('is %j', (program) => {
    expect(awkOnlyPrints(program)).toBe(true);
  });

  test.for([
    'BEGIN{system("x")}',
    '{print > "f"}',
    '{print >> "f"}',
    '{print | "sh"}',
    '"x" | getline',
    '{print $1,\n$2 > "f"}',
    '{print /(/; print > "f" /1}',
    '@load "x"',
    '{printf("%s", $1) > "f"}',
    '{print "unclosed}',
    '/[/]/',
  ])('is not %j', (program) => {
    expect(awkOnlyPrints(program)).toBe(false);
  });
});
