import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import type { ReplacedFile } from '../schema/events.ts';
import { versionOf } from '../system/regular-file.ts';
import { type Adoption, type AdoptionOrder, adoptFiles, finishAdoption } from './adopt-files.ts';
import { createFileLedger } from './file-ledger.ts';
import { createOriginalFiles } from './original-files.ts';

const version = (text: string): string => versionOf(Buffer.from(text));

function scene() {
  const root = temporaryDirectory();
  const [work, kept] = [join(root, 'work'), join(root, 'kept')];
  mkdirSync(work);
  for (const [name, text] of [
    ['a', 'old a'],
    ['b', 'old b'],
    ['seen', 'seen'],
  ] as const)
    writeFileSync(join(work, name), text);
  chmodSync(join(work, 'a'), 0o755);
  const ledger = createFileLedger();
  const place = { ledger, originals: createOriginalFiles(kept), agent: 's.2', task: 'ahead' };
  const prepared = (name: string, before: string | null, after: string) => ({
    ...{ path: join(work, name), before: before === null ? null : version(before) },
    ...{ bytes: Buffer.from(after), mode: 0o600 },
  });
  let recorded: ReplacedFile[] | null = null;
  const order: AdoptionOrder = {
    ...place,
    files: [
      prepared('a', 'old a', 'new a'),
      prepared('b', 'old b', 'new b'),
      prepared('in/c', null, 'new c'),
    ],
    reads: new Map([[join(work, 'seen'), version('seen')]]),
    async record(files) {
      recorded = files;
    },
  };
  return {
    ...{ work, place, order, ledger, prepared },
    recorded: () => recorded,
    text: (name: string) => (existsSync(join(work, name)) ? readFileSync(join(work, name), 'utf8') : null),
    adopt: (change: Partial<AdoptionOrder> = {}): Promise<Adoption> => adoptFiles({ ...order, ...change }),
  };
}

const OLD = ['old a', 'old b', null];
const NEW = ['new a', 'new b', 'new c'];

describe('BG-2: files that were prepared elsewhere', () => {
  test('move in together, keep their modes, and their writer is known', async () => {
    const { work, text, adopt, recorded, ledger } = scene();
    expect(await adopt()).toEqual({ adopted: true, failed: [] });
    expect(['a', 'b', 'in/c'].map(text)).toEqual(NEW);
    const modes = ['a', 'in/c'].map((name) => statSync(join(work, name)).mode & 0o777);
    expect(modes).toEqual([0o755, 0o600]);
    expect(recorded()?.[0]).toMatchObject({ before: version('old a'), after: version('new a'), mode: 0o755 });
    expect(ledger.lastWrite(join(work, 'b'))).toMatchObject({ agent: 's.2', task: 'ahead' });
    expect(readdirSync(work).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test.each<[string, (work: string) => void, RegExp]>([
    ['one of them has changed', (work) => writeFileSync(join(work, 'b'), 'mine'), /b has changed since$/],
    [
      'a file is where its folder was',
      (work) => writeFileSync(join(work, 'in'), ''),
      /^a file is where a folder was$/,
    ],
    [
      'one that was read has changed',
      (work) => writeFileSync(join(work, 'seen'), 'x'),
      /seen has changed since$/,
    ],
    [
      'a link leads elsewhere',
      (work) => {
        mkdirSync(join(work, 'other'));
        symlinkSync('other', join(work, 'in'));
      },
      /in\/c: a link now leads elsewhere$/,
    ],
  ])('stay out as a whole where %s', async (_, change, reason) => {
    const { work, text, adopt, recorded } = scene();
    change(work);
    const [a] = [text('a')];
    expect(await adopt()).toEqual({ adopted: false, reason: expect.stringMatching(reason) });
    expect([text('a'), recorded()]).toEqual([a, null]);
    expect(readdirSync(work).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('stay out as a whole where there is no room', async () => {
    const { text, adopt, recorded, place } = scene();
    const originals = {
      ...place.originals,
      keep() {
        throw new Error('no space left on device');
      },
    };
    expect(await adopt({ originals })).toEqual({ adopted: false, reason: 'no space left on device' });
    expect([['a', 'b', 'in/c'].map(text), recorded()]).toEqual([OLD, null]);
  });

  test('another agent that wants one of them waits', async () => {
    const { work, adopt, ledger, text } = scene();
    const order: string[] = [];
    const late = Promise.withResolvers<void>();
    const adopted = adopt({
      async record() {
        order.push('recorded');
        late.resolve();
      },
      onStep: (step) => void order.push(step),
    });
    await late.promise;
    await ledger.exclusive(join(work, 'a'), async () => void order.push(`other sees ${text('a')}`));
    await adopted;
    expect(order.at(-1)).toBe('other sees new a');
  });

  test('one that another program changes at the last moment stays as it is, and is named', async () => {
    const { work, adopt, text } = scene();
    const outcome = await adopt({ record: async () => writeFileSync(join(work, 'b'), 'mine, and new') });
    expect(outcome).toEqual({
      adopted: true,
      failed: [{ path: join(work, 'b'), reason: 'it changed at this very moment' }],
    });
    expect(['a', 'b', 'in/c'].map(text)).toEqual(['new a', 'mine, and new', 'new c']);
  });

  test('a killed adoption of which nothing was in place is finished, with all files of a folder', async () => {
    const { work, adopt, text, place, recorded } = scene();
    await expect(
      adopt({
        onStep(step) {
          if (step === 'recorded') throw new Error('killed');
        },
      }),
    ).rejects.toThrow('killed');
    expect(['a', 'b', 'in/c'].map(text)).toEqual(OLD);
    // As the killed process left it.
    for (const folder of [work, join(work, 'in')]) writeFileSync(join(folder, '.ramet-s.2-0123.tmp'), 'x');
    expect(await finishAdoption(place, { files: recorded() ?? [] })).toEqual([]);
    expect(['a', 'b', 'in/c'].map(text)).toEqual(NEW);
    for (const folder of [work, join(work, 'in')])
      expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('a killed adoption is finished, but for what has changed since', async () => {
    const { work, adopt, text, place, recorded } = scene();
    await expect(
      adopt({
        onStep(step) {
          if (step === 'placed') throw new Error('killed');
        },
      }),
    ).rejects.toThrow('killed');
    expect(['a', 'b', 'in/c'].map(text)).toEqual(['new a', 'old b', null]);
    const files = recorded() ?? [];
    expect(await finishAdoption(place, { files })).toEqual([]);
    expect(['a', 'b', 'in/c'].map(text)).toEqual(NEW);
    writeFileSync(join(work, 'b'), 'mine');
    expect(await finishAdoption(place, { files })).toEqual([
      { path: join(work, 'b'), reason: 'it has changed since' },
    ]);
    expect(text('b')).toBe('mine');
  });
});
