import { expect, test } from 'vitest';
import { limited } from '../../sdk/doctor/health-check.ts';
import { textStyle } from '../interactive/screen/text-style.ts';
import { linesOf } from './doctor.ts';

const CHECK = limited('extensions', 'five words that are found here', 'do this and then that, in this order');

test('UI-1: on a screen what was found is wrapped between words, below itself; elsewhere it is one line', () => {
  expect(linesOf(CHECK, textStyle(false), null)).toBe(
    '--  extensions five words that are found here\n' +
      '               -> do this and then that, in this order\n',
  );
  expect(linesOf(CHECK, textStyle(false), 40)).toBe(
    [
      '--  extensions five words that are',
      '               found here',
      '               -> do this and then',
      '                  that, in this order',
      '',
    ].join('\n'),
  );
});
