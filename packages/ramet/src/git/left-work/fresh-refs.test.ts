import { expect, test } from 'vitest';
import { unknownRefNotes } from './fresh-refs.ts';

test('OP-4: refs whose maker is not known are one line, with their number and some names', () => {
  const refs = Array.from({ length: 5 }, (_, index) => ({
    ...{ ref: `refs/heads/person/${index}`, commit: String(index).repeat(40) },
  }));
  expect(unknownRefNotes([])).toEqual([]);
  expect(unknownRefNotes(refs.slice(0, 1))).toEqual([expect.stringMatching(/see git show person\/0$/)]);
  expect(unknownRefNotes(refs.slice(0, 2))).toEqual([
    expect.stringMatching(/ 2 refs appeared .*: person\/0 \(0{12}\), person\/1 \(1{12}\)$/),
  ]);
  expect(unknownRefNotes(refs)).toEqual([
    expect.stringMatching(/ 5 refs appeared .*, person\/2 \(2{12}\) and 2 more$/),
  ]);
});
