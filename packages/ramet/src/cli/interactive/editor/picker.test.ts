import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Key, KeyName } from './key-parser.ts';
import { matchingItems, newPicker, type Picker, type PickerStep, pressPicker } from './picker.ts';

const press = (name: KeyName): Key => ({ type: 'press', name });
const text = (typed: string): Key => ({ type: 'text', text: typed });
const items = [
  { id: 'aaaa1111', label: 'Fix the parser' },
  { id: 'bbbb2222', label: 'Write documents' },
  { id: 'cccc3333', label: 'Parse dates' },
];

function pressed(...keys: Key[]): PickerStep {
  let step: PickerStep = { type: 'open', picker: newPicker('which?', items) };
  for (const key of keys) if (step.type === 'open') step = pressPicker(step.picker, key);
  return step;
}

const shown = (picker: Picker): string[] => matchingItems(picker).map(({ id }) => id);

describe('UI-3: choosing from a list', () => {
  test.for<[name: string, keys: Key[], step: object]>([
    ['Enter takes the first', [press('enter')], { type: 'picked', id: 'aaaa1111' }],
    ['Down and Enter the second', [press('down'), press('enter')], { type: 'picked', id: 'bbbb2222' }],
    ['Up from the first goes to the last', [press('up'), press('enter')], { type: 'picked', id: 'cccc3333' }],
    ['a search narrows it', [text('pars da'), press('enter')], { type: 'picked', id: 'cccc3333' }],
    ['an id is found too', [text('bbbb'), press('enter')], { type: 'picked', id: 'bbbb2222' }],
    ['where nothing matches Enter waits', [text('zzz'), press('enter')], { type: 'open' }],
    ['Esc closes', [text('x'), press('escape')], { type: 'closed' }],
    ['Ctrl-C closes', [press('interrupt')], { type: 'closed' }],
  ])('%s', ([, keys, step]) => {
    expect(pressed(...keys)).toMatchObject(step);
  });

  test('what is taken back from the search widens it', () => {
    const step = pressed(text('doc'), press('backspace'), press('backspace'), press('backspace'));
    expect(step.type === 'open' && shown(step.picker)).toEqual(items.map(({ id }) => id));
  });

  test('of a long text only the beginning is searched, and all of it is taken', () => {
    const long = `pasted ${'x'.repeat(5_000)} needle`;
    const picker = newPicker('which?', [{ id: long, label: long }, ...items]);
    const found = (search: string): PickerStep => pressPicker(picker, text(search));
    for (const [search, ids] of [
      ['needle', []],
      ['pasted', [long]],
    ] as const) {
      const step = found(search);
      expect(step.type === 'open' && shown(step.picker)).toEqual(ids);
    }
    expect(pressPicker(picker, press('enter'))).toEqual({ type: 'picked', id: long });
  });

  test('no sequence of keys throws, and the place is always one that is there', () => {
    const key = fc.oneof(
      fc.string({ maxLength: 3 }).map(text),
      fc.constantFrom<KeyName>('up', 'down', 'tab', 'backspace', 'delete-word', 'left', 'delete').map(press),
    );
    const property = fc.property(fc.array(key), (keys) => {
      const step = pressed(...keys);
      if (step.type !== 'open') return;
      const { length } = matchingItems(step.picker);
      expect(step.picker.place).toBeLessThan(Math.max(1, length));
    });
    fc.assert(property);
  });
});
