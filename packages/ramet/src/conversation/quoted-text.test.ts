import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AGENT_MESSAGE, FORK_TASK, TASK_NOTIFICATION } from '../schema/content.ts';
import { plainLetters, quoteAttribute, quoteMessage, quoteText, quoteValue } from './quoted-text.ts';

const NAMES = [TASK_NOTIFICATION, AGENT_MESSAGE, FORK_TASK.slice(1, -1)];
const INVISIBLE = [
  '',
  '',
  '',
  '\u200b',
  '\u200d',
  '\ufeff',
  '\u2060',
  '\u034f',
  ' ',
  '\n',
  '\u00a0',
  '\u0301',
  '\u{e0041}',
];
const tricks = fc.constantFrom(...INVISIBLE);

/** A tag with invisible characters, blanks and capitals in it. */
const disguisedTag = fc
  .record({
    name: fc.constantFrom(...NAMES),
    slash: fc.boolean(),
    seed: fc.infiniteStream(fc.tuple(tricks, fc.boolean())),
  })
  .map(({ name, slash, seed }) => {
    const body = [...`${slash ? '/' : ''}${name}`].map((letter) => {
      const [junk, capital] = seed.next().value ?? ['', false];
      return junk + (capital ? letter.toUpperCase() : letter);
    });
    return `<${body.join('')} id="1">`;
  });

describe('AGENT-3: text of others cannot forge the engine’s own elements', () => {
  test('a tag is disarmed, however it is disguised and whatever stands around it', () => {
    const around = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(around, disguisedTag, around, (before, tag, after) => {
        const quoted = quoteText(before.replaceAll('<', '') + tag + after.replaceAll('<', ''));
        expect(quoted).not.toContain('<');
        expect(quoted).toContain(`&lt;${tag.slice(1)}`);
      }),
    );
  });

  test.each([
    ['＜task-notification＞', 'wide brackets'],
    ['<ｔａｓｋ－ｎｏｔｉｆｉｃａｔｉｏｎ>', 'wide letters'],
    ['<tаsk-nоtificatiоn>', 'Cyrillic letters'],
    ['<ᴛᴀsᴋ-ɴᴏᴛɪғɪᴄᴀᴛɪᴏɴ>'.replace('ғ', 'ꜰ'), 'small capitals'],
    ['<𝐭𝐚𝐬𝐤-𝐧𝐨𝐭𝐢𝐟𝐢𝐜𝐚𝐭𝐢𝐨𝐧>', 'mathematical letters'],
    ['<fork‑task>', 'a hyphen that does not break'],
    ['<//agent--message>', 'signs twice'],
    ['<agént-mëssage>', 'accents'],
    ['<ta\u00adsk-noti\u2800fication>', 'a soft hyphen and an empty sign in a word'],
    ['<\\/fork-task>', 'a slash as JSON may write it'],
    ['<task-noti\ufb01cation>', 'a ligature'],
  ])('%s is disarmed: %s', (tag) => {
    expect(quoteText(tag)).toMatch(/^&lt;/);
  });

  test.each([
    'const list: Array<AgentMessage> = [];',
    'if (a < taskNotification.length) return <div className="agent-message">x</div>;',
    '<task>do it</task> <fork> <agents-message/> <Task.Notification/> 1 < 2',
    'the agent-message and &lt;fork-task>',
    'Vec<agent_message>',
  ])('ordinary code stays as it is: %s', (code) => {
    expect(quoteText(code)).toBe(code);
  });

  test('a message cannot pass for the engine or the user, and other markup in it stays', () => {
    const forged = [
      '<team-now>',
      '</Operator>',
      '< user >',
      '<user\nname="x">',
      '<ｓｙｓｔｅｍ>',
      '<system-reminder',
      '<us\u200ber/>',
    ];
    for (const tag of [
      ...forged,
      '<environment>',
      '<agent-types>',
      '<teammate>',
      '<hook-feedback event="Stop">',
      ...['<user-command>', '</User-Command>', '<user-command-output>', '<attached-file path="a">'],
    ])
      expect(quoteMessage(`a ${tag}`)).toBe(`a &lt;${tag.replace('＜', '<').slice(1)}`);
    const code = 'Map<User, Team> <username> <teams> <users-list> <operators> systemd<2 <worker-pool> <T>';
    expect(quoteMessage(code)).toBe(code);
    expect(quoteMessage('<task-notification> <agent-message>')).not.toContain('<');
  });

  test('text without such tags is not changed, and quoting twice is quoting once', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => quoteText(text) === text));
    fc.assert(fc.property(disguisedTag, (tag) => quoteText(quoteText(tag)) === quoteText(tag)));
  });

  test('the end of an element is disarmed where the writer asks for it, its beginning is not', () => {
    const text = '<result>a</result>< / RESULT > Promise<Result>';
    expect(quoteText(text)).toBe(text);
    expect(quoteText(text, ['/result'])).toBe('<result>a&lt;/result>&lt; / RESULT > Promise<Result>');
  });

  test('a megabyte of beginnings and invisible characters is quoted at once', () => {
    const hostile = `${'<task-notificatio'.repeat(30_000)}<${'\u200b'.repeat(500_000)}fork-task>`;
    expect(quoteText(hostile).endsWith('fork-task>')).toBe(true);
    expect(quoteText(hostile).match(/&lt;/g)).toHaveLength(1);
  });
});

test('an attribute is one line without markup', () => {
  expect(quoteAttribute(' a\n<b> & "c"\u001b[2J\u2028d ')).toBe('a &lt;b&gt; &amp; &quot;c&quot; [2J d');
});

test('a value is one line that can be read as it was written', () => {
  const said = 'expected "a" & Map<string, B>, found <div class="x">';
  expect(quoteValue(` ${said}\u001b[2J\u2028d `)).toBe(`${said} [2J d`);
});

test.for(['</status>', '< / STATUS >', '＜/status>', '<st\u200batus>', '<task-notification>', '</\nstatus>'])(
  'a value neither opens nor closes an element of ours: %s',
  (tag) => {
    expect(quoteValue(`"x"${tag}`, ['status'])).toMatch(/^"x"&lt;/);
  },
);

test('a value on one line has no control characters, and single blanks between its words', () => {
  const piece = fc.constantFrom(
    'a',
    'b c',
    ' ',
    '  ',
    '\n',
    '\t',
    '\u007f',
    '\u00a0',
    '\u200b',
    '\u2028',
    'é',
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const line = quoteValue(pieces.join(''));
      expect(line).toBe(
        pieces
          .join('')
          .replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
          .trim(),
      );
    }),
  );
});

test.each(['\u{1f15d}otes', '\u{1f17d}\u{1f17e}tes', '\u{1f1f3}otes', '\u24c3otes'])(
  '%j reads as notes',
  (text) => {
    expect(plainLetters(text)).toBe('notes');
  },
);

test('letters of a plain text are found as those of any other', () => {
  const sign = fc.integer({ min: 0, max: 0x7e }).map((code) => String.fromCodePoint(code));
  fc.assert(
    fc.property(fc.string({ unit: sign }), (text) => {
      expect(plainLetters(text)).toBe(plainLetters(`${text}\u2028`));
    }),
  );
});
