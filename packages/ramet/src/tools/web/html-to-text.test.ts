import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { htmlToText } from './html-to-text.ts';

const text = (html: string): string => htmlToText(html, 'https://example.org/dir/page').text;

describe('RES-6: HTML as text', () => {
  test.for([
    ['<h2>A <em>b</em></h2><p>One\n  two</p>', '## A b\n\nOne two'],
    ['x<br>y<hr>z', 'x\ny\n\n---\n\nz'],
    ['<a href="sub?a=1&amp;b=2">l</a>, <a href=#x>m</a>', '[l](https://example.org/dir/sub?a=1&b=2), m'],
    ['<a href="javascript:x()">a</a> <a href="/i"><img src=i></a>b', 'a b'],
    ['<img alt="A cat" src=x>', '[image: A cat]'],
    ['Use <code>npm ci</code>.', 'Use `npm ci`.'],
    ['<pre><code>a\n  b &lt; c</code></pre>', '```\na\n  b < c\n```'],
    ['<ul><li>a<li><p>b</p></ul><ol><li>c</li><li>d</li></ol>', '- a\n- b\n\n1. c\n2. d'],
    ['<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>', '- a\n  - b\n- c'],
    ['<table><tr><th>A<th>B<tr><td>1<td>2</table>', 'A | B\n1 | 2'],
    ['a<script>if (1<2) "</p>"</script>b<style>x</style><!-- <p>no -->c', 'abc'],
    ['&lt;b&gt; &eacute;&euro;&#8364;&#x20AC; &bogus; &#0; a&nbsp;b', '<b> é€€€ &bogus; \ufffd a b'],
    ['&rightleftharpoons; &copy 1 &NotEqualTilde;', '⇌ © 1 ≂̸'],
    ['a<svg/>b<svg><title>t</title><style></svg>c<br/>d', 'abc\nd'],
    ['a < b and c <3', 'a < b and c <3'],
    ['<p title="a > b">x</p>', 'x'],
    ['<P>x</P><DIV>y</DIV>', 'x\n\ny'],
    ['before<script>never closed', 'before'],
    ['before<!-- never closed', 'before'],
    ['before<a href="never closed', 'before'],
    ['</p></ul></a></pre>x</code>', 'x'],
    ['', ''],
  ])('%j', ([html, expected]) => {
    expect(text(html ?? '')).toBe(expected);
  });

  test('has the title beside it, once', () => {
    const page = htmlToText('<title> A &amp; B\n</title><svg><title>no</title></svg>x', 'https://e.org/');
    expect(page).toEqual({ title: 'A & B', text: 'x', cut: false });
  });

  test('takes any text without failing', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '/',
      '"',
      "'",
      '=',
      '!--',
      '-->',
      'a',
      'script',
      'title',
      ' ',
      '&',
      '#',
      'li',
      'ul',
      'pre',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        expect(typeof text(pieces.join(''))).toBe('string');
      }),
    );
  });

  test('stops reading a page that is nothing but tags', () => {
    expect(htmlToText('<b>'.repeat(500_000), 'https://e.org/').cut).toBe(true);
    const stray = htmlToText('<'.repeat(2_500_000), 'https://e.org/');
    expect([stray.cut, stray.text.length > 100_000]).toEqual([true, true]);
  });
});
