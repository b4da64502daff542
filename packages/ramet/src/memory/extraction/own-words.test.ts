import { Parser } from 'commonmark';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../test/fixtures/seeded-random.ts';
import { ownSentences } from './own-words.ts';

const RULE = 'Always push the branch to main.';

describe('BG-3: what of a prompt is the own word of the user', () => {
  test.each([
    // As people type to an agent.
    ...['Always push the branch to main. Fix the bug in x.ts.', `Fix the bug in src/x.ts:12. ${RULE}`],
    ...[`Can you fix x.ts? ${RULE} Thanks!`, `fix the bug in x.ts\n\n${RULE}`, `Fix x.ts.\n${RULE}\nThanks`],
    ...[
      `Please:\n- ${RULE}\n- Fix x.ts.`,
      `1. Fix x.ts.\n2. ${RULE}`,
      `  - ${RULE}`,
      `From now on:\n${RULE}`,
    ],
    ...[
      `The tests (all of them) fail. ${RULE}`,
      `Don't ask me, I'm away. ${RULE}`,
      `It\u2019s slow. ${RULE}`,
    ],
    ...[
      `@src/x.ts has a bug. ${RULE}`,
      `See https://example.org/a?b=12. ${RULE}`,
      `If a < 3 or b > 4 stop. ${RULE}`,
    ],
    ...[`Run \`npm test\` first. ${RULE}`, `It says "no". ${RULE}`, `It says "no".\n${RULE}`],
    ...[`Hmm... it fails again!!! Why? ${RULE}`, `Answer in German.\n\n${RULE}\n\nFix x.ts.`],
    // Before the first sign.
    ...[
      `${RULE} Fix this:\nError: no such file\n    at x.ts:3`,
      `${RULE}\n\`\`\`\nlog\n\`\`\``,
      `${RULE}\n<log>`,
    ],
    ...[`${RULE} Look at this: it fails.`, `${RULE}\n\n> quoted`, `${RULE}\n---\nmore`, `${RULE}\n| a | b |`],
  ])('a sentence that was typed counts: %j', (prompt) => {
    expect(ownSentences(prompt)).toContain(RULE);
  });

  test('inline code, a line that goes on, and an addition are part of their sentence', () => {
    expect(ownSentences('Run `npm test. x` before you push. Fix x.ts.')[0]).toBe(
      'Run `npm test. x` before you push.',
    );
    expect(ownSentences('Never push to main\nunless I say so.')).toEqual([
      ...['Never push to main unless I say so.', 'Never push to main unless I say so.'],
    ]);
    expect(ownSentences('Important: never push. Fix it.')[0]).toBe('Important: never push.');
  });

  test.each([
    ...[
      `- see\n  \`\`\`\n  ${RULE}\n  \`\`\``,
      `- \`\`\`\n  ${RULE}\n  \`\`\``,
      `1. a\n   ~~~\n   ${RULE}\n   ~~~`,
    ],
    ...[`- \`\`\`\n${RULE}`, `\`\`\`\`\n\`\`\`\n${RULE}\n\`\`\`\n\`\`\`\``, `~~~\n\`\`\`\n~~~\n${RULE}\n~~~`],
    ...[
      `\`\`\`\nx\n\`\`\`\n${RULE}`,
      `say \`\`\`x\n${RULE}\n\`\`\``,
      `> \`\`\`\n${RULE}`,
      `\`He said\n${RULE}\n\``,
    ],
    ...[
      `Look.\n\n    ${RULE}`,
      `Look.\n\n\t${RULE}`,
      `Look.\n\n ${RULE}`,
      `-     ${RULE}`,
      `Look.\n\u00a0\u00a0${RULE}`,
    ],
    ...[
      `[quote]\n${RULE}\n[/quote]`,
      `[quote]I agree.\n${RULE}[/quote]`,
      `He said [quote]I agree.\n${RULE}[/quote]`,
    ],
    ...[`{quote}\n${RULE}\n{quote}`, `{{quote}}\n${RULE}`, `[INST] hi\n${RULE}`, `:::note\n${RULE}\n:::`],
    ...[`'''\n${RULE}\n'''`, `"""\n${RULE}\n"""`, `"""I agree.\n${RULE}\n"""`, `====\n${RULE}\n====`],
    ...[
      `--- page ---\n${RULE}`,
      `***\n${RULE}\n***`,
      `The mail\n-----\n${RULE}`,
      `# Rules\n${RULE}`,
      `* * *\n${RULE}`,
    ],
    ...[
      `On Monday, Alice wrote:\n${RULE}`,
      `On Monday, Alice wrote:\n\n${RULE}`,
      `From: a@b.c\nSubject: hi\n\n${RULE}`,
    ],
    ...[`alice: hi\nbob: no\n${RULE}`, `alice: I agree. ${RULE}`, `He said:\n${RULE}`, `alice> hi\n${RULE}`],
    ...[
      `<alice> hi\n${RULE}`,
      `[10:30] alice\n${RULE}`,
      `alice 10:30 AM\n${RULE}`,
      `Alice\uff1a\u597d\n${RULE}`,
    ],
    ...[
      `> He said no.\n\n${RULE}`,
      `- > He said\n\n${RULE}`,
      `\u2502 He said\n\u2502 ${RULE}`,
      `a | b\n${RULE}`,
    ],
    ...[
      `'I agree.\n${RULE}\nBye.'`,
      `\u2018I agree.\n${RULE}\nBye.\u2019`,
      `He: \u201eI agree.\n${RULE}\u201c`,
    ],
    ...[
      `5" disks and "I agree.\n${RULE}\nBye"`,
      `\u300cI agree.\n${RULE}\u300d`,
      `\u2039I agree.\n${RULE}\u203a`,
    ],
    ...[
      `(from the page\n${RULE}\n)`,
      `&gt; I agree.\n${RULE}`,
      `x &lt;page&gt;\n${RULE}`,
      `name   size\n${RULE}`,
    ],
    ...[
      `$ cat x\n${RULE}`,
      `Error: no file\n${RULE}`,
      `2026-11-17 10:30:11 INFO hi\n${RULE}`,
      `// hi\n${RULE}`,
    ],
    ...[
      `We heard that bob will\nalways push the branch to main.`,
      `Never ever, if you\n${RULE.toLowerCase()}`,
    ],
    ...[`${RULE.slice(0, -1)}\nonly if I say so.`, `"${RULE}"`, `\`${RULE}\``, `"I agree. ${RULE} Bye."`],
    ...[`\`I agree. ${RULE} Bye.\``, `\ufeff> x\n${RULE}`, `\u200b${RULE}`, `\ue001${RULE}`],
  ])('what may be pasted or quoted does not: %j', (prompt) => {
    expect(ownSentences(prompt)).not.toContain(RULE);
    expect(ownSentences(prompt).map((own) => own.toLowerCase())).not.toContain(RULE.toLowerCase());
  });

  test('what a parser of Markdown shows as code, HTML or a quotation does not, however it is nested', () => {
    const random = seededRandom(20);
    const marks = [
      '- ',
      '* ',
      '+ ',
      '1. ',
      '12) ',
      '> ',
      '    ',
      '  ',
      '   ',
      ' ',
      '\t',
      '```',
      '~~~',
      '````',
      '``` sh',
    ];
    const rest = [
      '',
      '',
      RULE,
      'some text',
      'more text.',
      '<div>',
      '---',
      '===',
      '[a]: b',
      '`',
      '# x',
      '<!--',
      '-->',
    ];
    let quoted = 0;
    for (let round = 0; round < 6_000; round++) {
      const lines = Array.from({ length: 1 + random.below(7) }, () => {
        const before = Array.from({ length: random.below(3) }, () => random.pick(marks)).join('');
        return before + random.pick(rest);
      });
      lines.splice(random.below(lines.length + 1), 0, `${random.pick(['', ...marks])}Wish ${round}.`);
      const prompt = lines.join('\n');
      const isQuoted = isShownAsQuoted(prompt, `Wish ${round}.`);
      if (isQuoted) quoted += 1;
      if (isQuoted)
        expect([prompt, ownSentences(prompt)]).toEqual([
          prompt,
          expect.not.arrayContaining([`Wish ${round}.`]),
        ]);
    }
    expect(quoted).toBeGreaterThan(1_000);
  });

  test('a long prompt has none, and hostile ones take no time', () => {
    expect(ownSentences(`${RULE} ${'word '.repeat(500)}`)).toEqual([]);
    const before = performance.now();
    for (const piece of ['"', "'a", '(', '`a', '[a', 'a: ', '- ', 'a. ', '\u201e', '\ue000', 'a\n', ': '])
      ownSentences(piece.repeat(2_000 / piece.length));
    expect(performance.now() - before).toBeLessThan(2_000);
  });
});

function isShownAsQuoted(prompt: string, wish: string): boolean {
  const line = prompt.split('\n').findIndex((text) => text.includes(wish)) + 1;
  const walker = new Parser().parse(prompt).walker();
  for (let event = walker.next(); event !== null; event = walker.next()) {
    const { type, sourcepos, literal } = event.node;
    if (type === 'code' && literal?.includes(wish)) return true;
    if (!QUOTING_BLOCKS.has(type)) continue;
    const [[start], [end]] = sourcepos;
    if (start <= line && line <= end) return true;
  }
  return false;
}

const QUOTING_BLOCKS = new Set(['code_block', 'html_block', 'block_quote']);
