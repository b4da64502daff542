import { describe, expect, test } from 'vitest';
import { renderAside } from './render-aside.ts';
import { type PageBytes, renderPage } from './render-page.ts';

function page(text: string, changes: Partial<PageBytes> = {}): PageBytes {
  const place = { kind: 'text/html', parameters: '', url: 'http://example.invalid/' };
  return { bytes: Buffer.from(text), ...place, prompt: undefined, shownLength: 100_000, ...changes };
}

/** How often others had their turn while it worked. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let next = setImmediate(function turn() {
    turns += 1;
    next = setImmediate(turn);
  });
  await work();
  clearImmediate(next);
  return turns;
}

const signal = new AbortController().signal;
const prompt = Array.from({ length: 3_000 }, (_, index) => `word${index}`).join(' ');

describe('SEC-1: no page holds the others up', () => {
  test.each([
    ['of links', page('<a href=x>y'.repeat(100_000))],
    ['of list items', page('<li>a'.repeat(200_000))],
    ['of plain text, with a long wish', page('lorem ipsum '.repeat(100_000), { kind: 'text/plain', prompt })],
  ])('one %s', async (_, large) => {
    expect(await turnsDuring(() => renderAside(large, signal))).toBeGreaterThan(20);
  });

  test('a small one and a large one come out alike', async () => {
    for (const text of [
      '<title>T</title><p>a <b>b</b>',
      `<title>T</title>${'<p>a <b>b</b>'.repeat(20_000)}`,
    ]) {
      expect(await renderAside(page(text), signal)).toEqual(renderPage(page(text)));
    }
  });

  test('an abort ends the work', async () => {
    const abort = new AbortController();
    const work = renderAside(page('<a href=x>y'.repeat(400_000)), abort.signal);
    abort.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
  });
});
