/**
 * Turns what a terminal sends into keys. Sequences and pastes may arrive in pieces of any size. It knows names
 * of keys and nothing of what they do.
 *
 * Invariants
 * 1. What stands between the marks of a bracketed paste is one `paste`, whatever it contains.
 * 2. A lone Escape is held back until more arrives or `flush` says that nothing will.
 * 3. A paste whose end does not come is over when `flush` says so, or when Ctrl-C comes by itself; what came of it is kept,
 *    and what follows in one piece with line breaks, or before the end mark, still belongs to a paste: it submits nothing.
 * 4. Work is linear in what arrives: a paste of megabytes is searched once.
 */
export type KeyName =
  | 'enter'
  | 'newline'
  | 'tab'
  | 'escape'
  | 'backspace'
  | 'delete'
  | 'left'
  | 'right'
  | 'up'
  | 'down'
  | 'home'
  | 'end'
  | 'word-left'
  | 'word-right'
  | 'delete-word'
  | 'delete-next-word'
  | 'delete-to-start'
  | 'delete-to-end'
  | 'interrupt'
  | 'end-of-input'
  | 'redraw'
  | 'expand'
  | 'search'
  | 'editor'
  | 'suspend'
  | 'mode'
  | 'background'
  | 'agents'
  | 'page-up'
  | 'page-down'
  | 'previous'
  | 'next';

export type Key =
  | { type: 'text'; text: string }
  | { type: 'paste'; text: string }
  | { type: 'press'; name: KeyName };

export interface KeyParser {
  feed(chunk: string): Key[];
  /** What is held back: an Escape, or what came of a paste. */
  readonly waiting: 'escape' | 'paste' | null;
  /** Nothing more arrives for a while. */
  flush(): Key[];
}

const PASTE_START = '\u001b[200~';
const PASTE_END = '\u001b[201~';
/** No key has a longer sequence: what goes on without an end is noise. */
const LONGEST_SEQUENCE = 64;

const CONTROLS: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\n': 'newline',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0001': 'home',
  '\u0002': 'background',
  '\u0003': 'interrupt',
  '\u0004': 'end-of-input',
  '\u0007': 'editor',
  '\u0012': 'search',
  '\u0014': 'agents',
  '\u001a': 'suspend',
  '\u0005': 'end',
  '\u0006': 'right',
  '\u000b': 'delete-to-end',
  '\u000c': 'redraw',
  '\u000e': 'next',
  '\u000f': 'expand',
  '\u0010': 'previous',
  '\u0015': 'delete-to-start',
  '\u0017': 'delete-word',
};

/** After the Escape. Shift-Enter and Alt-Enter as the kitty protocol and xterm's modifyOtherKeys send them. */
const SEQUENCES: Readonly<Record<string, KeyName>> = {
  '[A': 'up',
  OA: 'up',
  '[B': 'down',
  OB: 'down',
  '[C': 'right',
  OC: 'right',
  '[D': 'left',
  OD: 'left',
  '[H': 'home',
  OH: 'home',
  '[1~': 'home',
  '[7~': 'home',
  '[F': 'end',
  OF: 'end',
  '[4~': 'end',
  '[8~': 'end',
  '[3~': 'delete',
  '[5~': 'page-up',
  '[6~': 'page-down',
  '[Z': 'mode',
  '[1;5D': 'word-left',
  '[1;3D': 'word-left',
  b: 'word-left',
  '[1;5C': 'word-right',
  '[1;3C': 'word-right',
  f: 'word-right',
  d: 'delete-next-word',
  '[3;5~': 'delete-next-word',
  '\u007f': 'delete-word',
  '\b': 'delete-word',
  '\r': 'newline',
  '\n': 'newline',
  '[13;2u': 'newline',
  '[13;3u': 'newline',
  '[27;2;13~': 'newline',
  '[27;3;13~': 'newline',
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what keys send
const TEXT = /[^\u0000-\u001f\u007f]+/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a sequence begins with Escape
const WHOLE_SEQUENCE = /\u001b(\[[0-?]*[ -/]*[@-~]|O[@-~]|[^\u001b[O])/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a sequence begins with Escape
const UNFINISHED = /^\u001b(\[[0-?]*[ -/]*|O)?$/;

export function createKeyParser(): KeyParser {
  let rest = '';
  let pasted: string[] | null = null;
  /** A paste was given up, and the rest of it may still come. */
  let isCutOff = false;

  /** Takes what belongs to the open paste; returns what follows it, or null when it is still open. */
  function takePaste(chunk: string, keys: Key[]): string | null {
    const pieces = pasted ?? [];
    // The end mark may be cut in two: the tail of the last piece is read again.
    const text = (pieces.pop() ?? '') + chunk;
    const end = text.indexOf(PASTE_END);
    if (end === -1) {
      const tail = Math.max(0, text.length - PASTE_END.length + 1);
      pieces.push(text.slice(0, tail), text.slice(tail));
      return null;
    }
    pieces.push(text.slice(0, end));
    keys.push({ type: 'paste', text: pieces.join('') });
    pasted = null;
    return text.slice(end + PASTE_END.length);
  }

  function giveUpPaste(): Key[] {
    const text = pasted?.join('') ?? '';
    pasted = null;
    isCutOff = true;
    return text === '' ? [] : [{ type: 'paste', text }];
  }

  function restOfPaste(chunk: string): Key[] | null {
    const end = chunk.indexOf(PASTE_END);
    const isRest = end !== -1 || (chunk.length > 1 && /[\r\n]/.test(chunk.split('\u001b', 1)[0] ?? ''));
    isCutOff = isRest && end === -1;
    if (!isRest) return null;
    const text = end === -1 ? chunk : chunk.slice(0, end);
    const keys: Key[] = text === '' ? [] : [{ type: 'paste', text }];
    return end === -1 ? keys : [...keys, ...feed(chunk.slice(end + PASTE_END.length))];
  }

  function feed(chunk: string): Key[] {
    if (pasted !== null && chunk === '\u0003') return giveUpPaste();
    const late = isCutOff ? restOfPaste(chunk) : null;
    if (late !== null) return late;
    const keys: Key[] = [];
    let input: string | null = pasted === null ? rest + chunk : takePaste(chunk, keys);
    rest = '';
    while (input !== null) {
      const start: number = input.indexOf(PASTE_START);
      const typed: string = start === -1 ? input : input.slice(0, start);
      const left = parseTyped(typed, keys);
      if (start === -1) {
        rest = left;
        break;
      }
      pasted = [''];
      input = takePaste(input.slice(start + PASTE_START.length), keys);
    }
    return keys;
  }

  return {
    feed,
    get waiting() {
      return pasted !== null ? 'paste' : rest !== '' ? 'escape' : null;
    },
    flush() {
      if (pasted !== null) return giveUpPaste();
      const held = rest;
      rest = '';
      return held === '\u001b' ? [{ type: 'press', name: 'escape' }] : [];
    },
  };
}

/** Appends the keys of `input` and returns the unfinished sequence at its end. */
function parseTyped(input: string, keys: Key[]): string {
  let at = 0;
  while (at < input.length) {
    const text = matchAt(TEXT, input, at);
    const sequence = text === null ? matchAt(WHOLE_SEQUENCE, input, at) : null;
    const found = text ?? sequence ?? input.slice(at, at + 1);
    if (text !== null) keys.push({ type: 'text', text });
    else if (sequence !== null) press(keys, SEQUENCES[sequence.slice(1)]);
    else if (found !== '\u001b') press(keys, CONTROLS[found]);
    else {
      const left = input.slice(at);
      if (left.length <= LONGEST_SEQUENCE && UNFINISHED.test(left)) return left;
      press(keys, 'escape');
    }
    at += found.length;
  }
  return '';
}

function press(keys: Key[], name: KeyName | undefined): void {
  if (name !== undefined) keys.push({ type: 'press', name });
}

function matchAt(pattern: RegExp, input: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(input)?.[0] ?? null;
}
