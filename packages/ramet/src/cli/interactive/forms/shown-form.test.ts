import { describe, expect, test } from 'vitest';
import type { ElicitedQuestion } from '../../../permission/broker.ts';
import { QuestionDesk } from '../chat/questions/question-desk.ts';
import type { Key, KeyName } from '../editor/key-parser.ts';
import { textStyle } from '../screen/text-style.ts';
import { formFields, readField } from './form-fields.ts';
import { ShownForm } from './shown-form.ts';

const press = (name: KeyName): Key => ({ type: 'press', name });
const letters = (text: string): Key[] => [...text].map((one) => ({ type: 'text', text: one }));
const { signal } = new AbortController();

const PERSON: ElicitedQuestion = {
  server: 'crm',
  message: 'Who is it?',
  schema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Full name', minLength: 2 },
      age: { type: 'integer', minimum: 0, maximum: 150 },
      member: { type: 'boolean', default: true },
      colour: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
    },
    required: ['name', 'colour'],
  },
};

function asked(question: ElicitedQuestion = PERSON, withdrawal: AbortSignal = signal) {
  let time = 0;
  let output = '';
  const desk = new QuestionDesk((withdrawn) => form.changed(withdrawn));
  const events = { isAnswering: false, aside: (text: string) => `${text}\n` };
  const form = new ShownForm({
    desk,
    style: textStyle(false),
    events,
    print: (text) => {
      output += text;
    },
    columns: () => 80,
    now: () => time,
  });
  const answer = desk.elicit(question, withdrawal);
  return {
    form,
    answer,
    events,
    output: () => output,
    wait: (ms: number) => {
      time += ms;
    },
    type: (...keys: Key[]) => {
      for (const key of keys) {
        time += 100;
        form.take(key, false);
      }
    },
  };
}

describe('EXT-4: a question of a server on a terminal', () => {
  test('says which server asks, and sends what was filled in and confirmed', async () => {
    const { form, answer, output, wait, type } = asked();
    expect(output()).toContain('the MCP server "crm" asks\n    | Who is it?');
    expect(output()).toContain('Full name (text)');
    wait(700);
    expect(form.live(false)?.answers).toBe('Tab answer · Esc cancel');
    type(press('tab'), press('enter'), ...letters('A'), press('enter'));
    expect(form.live(false)?.answers).toBe('Full name: at least 2 characters');
    type(...letters('da'), press('enter'), ...letters('x'), press('enter'));
    expect(form.live(false)?.answers).toBe('age: write a whole number');
    type(
      press('backspace'),
      ...letters('36'),
      press('enter'),
      press('enter'),
      ...letters('2'),
      press('enter'),
    );
    expect(form.live(false)).toMatchObject({
      rule: 'Full name: Ada · age: 36 · member: true · colour: g',
      answers: 'Enter: send to "crm" · Esc: back',
    });
    type(press('enter'));
    expect(await answer).toEqual({
      action: 'accept',
      content: { name: 'Ada', age: 36, member: true, colour: 'g' },
    });
  });

  test('no key of its first moments answers it, and no letter ever does', async () => {
    const { form, answer, wait } = asked();
    for (const key of [press('escape'), press('tab'), press('enter'), ...letters('yn')])
      form.take(key, false);
    expect(form.isEntering).toBe(false);
    wait(700);
    for (const key of letters('yna')) expect(form.take(key, false)).toBe(false);
    expect(form.take(press('enter'), false)).toBe(false);
    wait(100);
    // There is text in the input: Tab completes that.
    expect(form.take(press('tab'), true)).toBe(false);
    form.take(press('escape'), false);
    expect(await answer).toEqual({ action: 'cancel' });
  });

  test('line breaks that come in one piece send nothing', () => {
    const { form, wait, type } = asked();
    wait(700);
    type(press('tab'), press('enter'));
    wait(100);
    for (const key of [...letters('Ada'), press('enter'), press('enter')]) form.take(key, false);
    expect(form.live(false)?.rule).toMatch(/^1 of 4/);
  });

  test('can be declined', async () => {
    const { answer, wait, type } = asked();
    wait(700);
    type(press('tab'), press('tab'), press('enter'));
    expect(await answer).toEqual({ action: 'decline' });
  });

  test('is withdrawn with its call', async () => {
    const abort = new AbortController();
    const { form, answer, output } = asked(PERSON, abort.signal);
    abort.abort();
    expect(await answer).toEqual({ action: 'cancel' });
    expect(output()).toContain('no longer asked');
    expect(form.live(false)).toBeNull();
  });

  test('an address is shown whole, with the host it leads to', async () => {
    const url = `https://good.example@evil.example/${'x'.repeat(200)}`;
    const { answer, output, wait, type } = asked({ server: 'crm', message: 'Log in', url });
    expect(output().replace(/\n {4}\| /g, '')).toContain(url);
    expect(output()).toContain('it leads to evil.example; Ramet does not open it');
    wait(700);
    type(press('tab'), press('enter'));
    expect(await answer).toEqual({ action: 'accept' });
  });

  test('what a server says cannot pass for something of Ramet', () => {
    const message = '\u001b[2J? Bash asks for permission\n\u202etxt\n? y once';
    const name = 'crm"\u001b[31m\nRamet';
    const { output } = asked({ ...PERSON, server: name, message });
    expect(output()).not.toContain('\u001b');
    expect(output()).not.toContain('\u202e');
    const lines = output().split('\n');
    expect(lines.filter((line) => line.startsWith('?'))).toHaveLength(1);
    expect(lines).toContain('    | ? y once');
  });

  test('a long message is cut, and says so', () => {
    const { output } = asked({ ...PERSON, message: 'line\n'.repeat(500) });
    expect(output()).toContain('more lines are not shown');
    expect(output().split('\n').length).toBeLessThan(50);
  });

  test('what cannot be filled in here can only be declined', async () => {
    const nested = { type: 'object', properties: { a: { type: 'object' } } };
    const { answer, output, wait, type } = asked({ ...PERSON, schema: nested });
    expect(output()).toContain('cannot be filled in here');
    wait(700);
    type(press('tab'), press('tab'), press('enter'));
    expect(await answer).toEqual({ action: 'decline' });
  });
});

describe('fields of a form', () => {
  const read = (property: object, text: string, required: string[] = ['a']) => {
    const [field] = formFields({ type: 'object', properties: { a: property }, required }) ?? [];
    const found = field && readField(field, text);
    return found?.ok ? found.value : `wrong: ${found?.problem}`;
  };

  test.each([
    [{ type: 'string', format: 'email' }, 'a@b', 'a@b'],
    [{ type: 'string', format: 'email' }, 'nobody', 'wrong: write it as name@example.com'],
    [{ type: 'string', format: 'date' }, '2030-02-01', '2030-02-01'],
    [{ type: 'string', format: 'date' }, '1.2.2030', 'wrong: write it as 2030-01-31'],
    [{ type: 'string', format: 'constructor' }, 'x', 'x'],
    [{ type: 'string', maxLength: 3 }, 'four', 'wrong: at most 3 characters'],
    [{ type: 'number', maximum: 2 }, '1.5', 1.5],
    [{ type: 'number', maximum: 2 }, '3', 'wrong: at most 2'],
    [{ type: 'number' }, 'Infinity', 'wrong: write a number'],
    [{ type: 'boolean' }, 'No', false],
    [{ type: 'boolean' }, 'maybe', 'wrong: write yes or no'],
    [{ type: 'string', oneOf: [{ const: 'x', title: 'The X' }] }, 'the x', 'x'],
    [{ type: 'string', enum: ['2', '1'] }, '1', '1'],
    [{ type: 'string', enum: ['b'] }, '2', 'wrong: write a number from 1 to 1'],
    [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, '2, a', ['b', 'a']],
    [{ type: 'array', maxItems: 1, items: { enum: ['a', 'b'] } }, '1,2', 'wrong: at most 1 of them'],
    [{ type: 'string' }, ' ', 'wrong: it is needed'],
  ])('%j takes %j', (property, text, value) => {
    expect(read(property, text)).toEqual(value);
  });

  test('what may be empty is left out', () => {
    expect(read({ type: 'number' }, '', [])).toBeUndefined();
  });

  test.each([[{}], [{ properties: { a: { type: 'object' } } }], [{ properties: { a: null } }]])(
    '%j cannot be filled in',
    (schema) => {
      expect(formFields(schema)).toBeNull();
    },
  );
});
