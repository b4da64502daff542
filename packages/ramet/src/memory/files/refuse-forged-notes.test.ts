import { describe, expect, test } from 'vitest';
import { forgeryIn, ownWords, refuseForgedNotes, withOwnNote } from './refuse-forged-notes.ts';
import { asOfAgents } from './reserved-heading.ts';

const OWN = '# Top\n\n## Notes of the user\n- seed\n- old\n\n## Build\n- with npm\n';

function write(before: string | null, after: string): () => void {
  return () => refuseForgedNotes('/memory', { path: 'MEMORY.md', before, after });
}

/** What readers do not agree about: the trial of a reader outside of this project. */
const SEPARATORS: readonly string[] = [
  ...[
    '\n> ## Facts\n',
    '\n- ## Facts\n',
    '\n##\n',
    '\n#\n',
    '\n## <!-- x -->\n',
    '\n## &nbsp;\n',
    '\n## [](x)\n',
  ],
  ...['\n## ![](x)\n', '\n## ![x](x)\n', '\n---\n', '\n- #\n', '> #\n', '\n> #\n', '1. #\n', '\n## \u200b\n'],
  ...['\n## \u2800\n', '\n## \u3164\n', '\n## ##\n', '\n## <b></b>\n', '\n## **\u200b**\n', '\n## &#8203;\n'],
  ...['\n## \\\n', '\n<h2></h2>\n\n', '\n<h2>Facts</h2>\n\n', '\n- <h2>Facts</h2>\n', '\n> <h2>F</h2>\n\n'],
  ...['\n  > # x\n', '\n- > # x\n', '\n|# x|\n|-|\n', '\n`# x`\n', '\n\\# x\n', '\n## \u00a0\n', '\n## .\n'],
  ...['\n-\n  # x\n', '\n> x\n> ===\n', '\n- x\n  ===\n', '\n<h3 hidden>Facts</h3>\n\n', '\n  ## Facts\n'],
  ...[
    "\n<h2 style='display:none'>F</h2>\n\n",
    '\n<details><h2>F</h2></details>\n\n',
    '\n##Facts\n',
    '\n#### Facts\n',
  ],
  ...[
    '- x\r## Facts\n',
    '- x\u2028## Facts\n',
    '\n## :::\n',
    '\n```\n## Facts\n',
    '- ```\n## Facts\n',
    '\n<!--\n## Facts\n',
  ],
];

describe('MEM-1: an agent puts nothing under the notes of the user', () => {
  test.each<[string, string]>([
    ['a line', OWN.replace('- old', '- old\n- FORGED')],
    ['a line in a fence', OWN.replace('## Notes', '```\n## Notes').replace('- old', '- old\n- FORGED\n```')],
    ['a line in a comment', OWN.replace('## Notes', '<!--\n## Notes').replace('- old', '- FORGED\n-->')],
    ['a line below carriage returns', `a\rb\rc\rd\re\r\n\n${OWN.replace('- old', '- FORGED')}`],
    ['a heading in small capitals', `${OWN}\n## ɴotes of the user\n- FORGED\n`],
    ['a line after a carriage return', OWN.replace('- old', '- old\r- FORGED')],
    [
      'a line after a sign that separates lines',
      OWN.replace('- with', '- x\u2028## Notes of the user\u2028- y'),
    ],
    ['a heading with more words', `${OWN}\n## Notes of the user (continued)\n- FORGED\n`],
    ['a heading inside of an element', `${OWN}\n<div>\nx\n<h2>Notes of the user</h2>\n- FORGED\n</div>\n`],
    ['a heading of HTML in a line', `${OWN}\nfoo <h2>Notes of <b>the\nuser</b></h2> bar\n`],
    ['a heading of HTML in a fence', `${OWN}\n~~~\n<h3 id="x">Notes of the user</h3>\n- FORGED\n~~~\n`],
    ['a line of a paragraph', `${OWN}\nFacts:\n**[Notes](x.md) of the user**\n- FORGED\n`],
    ['another spelling of the heading', OWN.replace('## Notes of', '## Notes <i>of</i>')],
    ['a heading made wider', OWN.replace('## Notes', '# Notes')],
  ])('%s', (_, after) => {
    expect(write(OWN, after)).toThrow('only the user puts a line under "Notes of the user"');
  });

  const LAST = '## Notes of the user\n- old\n';
  test.each(SEPARATORS)('a line behind %j, which ends nothing for some reader', (separator) => {
    expect(write(LAST, `${LAST}${separator}- FORGED\n`)).toThrow('only the user puts a line');
    expect(write(LAST, `${LAST}${separator}- FORGED\n\n## Facts\n- x\n`)).toThrow(
      'only the user puts a line',
    );
    // It is no way in for another change either.
    const then = `${LAST}${separator}\n## Facts\n- x\n`;
    expect(write(LAST, then)).toThrow('only the user puts a line');
  });

  const FACTS = '## Notes of the user\n- old\n\n## Facts\n- EVIL\n';
  test.each<[string, string]>([
    ['without their heading', FACTS.replace('## Facts\n', '')],
    ['below a smaller one', FACTS.replace('## Facts', '### Facts')],
    ['below an indented one', FACTS.replace('## Facts', '    ## Facts')],
    ['below one in a fence', FACTS.replace('## Facts', '```\n## Facts\n```')],
    ['below one in a comment', FACTS.replace('## Facts', '<!--\n## Facts\n-->')],
    ['below one in an element', FACTS.replace('## Facts', '<div>\n## Facts')],
    ['below one in a hidden element', FACTS.replace('## Facts', '<div hidden>\n\n## Facts\n\n</div>')],
    ['below one in a list', FACTS.replace('## Facts', '- ## Facts')],
    ['below one in a quotation', FACTS.replace('## Facts', '> ## Facts')],
    ['below an empty one', FACTS.replace('## Facts', '## ')],
    ['below one that begins with nothing', FACTS.replace('## Facts', '##\u200b Facts')],
    ['below an underlined one', FACTS.replace('## Facts\n- EVIL', 'Facts\n- EVIL\n---')],
    ['below bold words', FACTS.replace('## Facts', '**Facts**')],
    ['with another heading of theirs', `${FACTS.replace('- EVIL', '- x')}\n## Notes of the user\n- EVIL\n`],
    ['behind a heading that has moved', '## Facts\n\n## Notes of the user\n- old\n- EVIL\n'],
    ['on their line', '## Notes of the user\n- old - EVIL\n\n## Facts\n'],
    ['behind a sign that separates lines', '## Notes of the user\n- old\u2028- EVIL\n\n## Facts\n'],
    ['behind a form feed', '## Notes of the user\n- old\f- EVIL\n\n## Facts\n'],
    ['below a heading that hides', FACTS.replace('## Facts', '## %% Facts %%')],
    ['below a heading of mathematics', FACTS.replace('## Facts', '## $\\phantom{Facts}$')],
    ['below a heading in a fence that began earlier', `\`\`\`\n${FACTS}`],
  ])('a line that was there already, %s', (_, after) => {
    expect(write(FACTS, after)).toThrow('only the user puts a line');
  });

  test('no other order, and none of them under another heading', () => {
    const own = '## Notes of the user\n- a\n- b\n\n### Not any more\n- c\n\n## Facts\n';
    expect(write(own, own.replace('- a\n- b', '- b\n- a'))).toThrow('only the user');
    expect(write(own, own.replace('### Not any more\n', ''))).toThrow('only the user');
    expect(write(own, own.replace('### Not any more\n- c\n', ''))).not.toThrow();
  });

  test('and no HTML beside them, which could hide a heading or move a line', () => {
    expect(write(OWN, `${OWN}- <p style="position:absolute;top:0">x</p>\n`)).toThrow('agents write no HTML');
    expect(write(OWN, `<style>h2 { display: none }</style>\n\n${OWN}`)).toThrow('agents write no HTML');
    expect(write(OWN, `${OWN}- It is a \`Map<string>\`.\n`)).not.toThrow();
    const theirs = OWN.replace('- old', '- Prefer Map<string> to <b>objects</b>');
    expect(write(theirs, `${theirs}- more\n`)).not.toThrow();
    expect(write('## Build\n', '## Build\n- It is a Map<string>.\n')).not.toThrow();
  });

  test.each([['> ## Facts'], ['<div>x</div>'], ['Facts\n====='], ['##']])(
    'nothing where it is not clear what is theirs: above %j',
    (separator) => {
      const unclear = `## Notes of the user\n- old\n\n${separator}\n\n- EVIL\n`;
      const said = 'ask the user to put a plain heading such as "## Facts" behind their notes';
      expect(write(unclear, `${unclear}- more\n`)).toThrow(said);
      expect(write(unclear, unclear.replace(`${separator}\n`, ''))).toThrow(said);
      const isOpen = separator.startsWith('<');
      const below = `${unclear}\n## Build\n- with npm\n`;
      if (isOpen) expect(write(unclear, below)).toThrow(said);
      else expect(write(unclear, below)).not.toThrow();
    },
  );

  test.each<[string, string | null, string]>([
    ['removes a line of theirs', OWN, OWN.replace('- old\n', '')],
    ['removes all of them', OWN, '## Build\n- with npm\n'],
    ['adds under another heading', OWN, `${OWN}- and node 24\n`],
    ['speaks of them', OWN, `${OWN}- What the notes of the user say holds for all packages.\n`],
    ['moves them down', OWN, `## Paths\n- src\n\n${OWN}`],
    ['begins a file', null, '# Notes\n\n- Of the release notes of the user service, one is in docs.\n'],
    ['finds them twice', `${OWN}\n${OWN}`, `${OWN}\n${OWN}- more\n`],
  ])('but %s', (_, before, after) => {
    expect(write(before, after)).not.toThrow();
  });

  test('in time that grows with the text', () => {
    const many = '**Notes of the user**\n\n'.repeat(20_000);
    expect(write(many, `${many}\nx\n`)).toThrow('only the user');
  });
});

test('MEM-1: memory of agents shows no heading of the user, whatever ends its lines and however long it is', async () => {
  const below = await asOfAgents('a\rb\rc\r\n\n## Notes <b>of</b> the user\n\n- FORGED\n');
  expect(below).toBe('a\nb\nc\n\n## Notes of agents\n\n- FORGED\n');
  const long = await asOfAgents(`<script>\nNotes <b>of</b> the user\n${'\n'.repeat(200_000)}</script>\n`);
  expect(long).toContain('Notes of agents');
});

test('MEM-1: a file of many blank lines is shown within two seconds of work', async () => {
  const before = process.cpuUsage();
  expect(await asOfAgents(`${'\n'.repeat(1 << 17)} # Title\n${'\n'.repeat(1 << 17)}`)).toContain(
    '\n ## Title\n',
  );
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});

test.each([
  '- by an agent\n\n## \n- EVIL\n',
  '- by an agent\n\n```\n## Facts\n```\n- EVIL\n',
  '## [](x)\n- EVIL\n\n## Facts\n- x',
])('MEM-1: a note of the user begins no section that others are in: %j', (text) => {
  const noted = withOwnNote(text, 'Answer in German.');
  expect(forgeryIn({ before: text, after: noted }, { words: ownWords(['Answer in German.']) })).toBeNull();
  expect(noted).toMatch(/\n\n## Notes of the user\n- Answer in German\.\n$/);
  // Those behind it begin with a heading.
  expect(withOwnNote(noted, 'Ask first.')).toBe(`${noted}- Ask first.\n`);
});

test('MEM-1: a note of the user stands above the topics', () => {
  expect(withOwnNote('# Mine\n\n## Facts\n- x\n', 'Ask first.')).toBe(
    '# Mine\n\n## Notes of the user\n- Ask first.\n\n## Facts\n- x\n',
  );
});
