import { expect, test } from 'vitest';
import type { SessionMode } from '../../../../schema/status.ts';
import { textStyle } from '../../screen/text-style.ts';
import { type SpecialKeyParts, SpecialKeys } from './special-keys.ts';

test('UI-3: Shift-Tab changes the permission mode, but never answers an open question', () => {
  const chat = {
    permissionMode: 'default' as SessionMode,
    setPermissionMode(mode: SessionMode): void {
      this.permissionMode = mode;
    },
  };
  const desk: { current: object | null } = { current: {} };
  const said: string[] = [];
  const never = (): never => {
    throw new Error('not asked for');
  };
  const keys = new SpecialKeys({
    ...{ chat, desk, style: textStyle(false), print: (text: string) => void said.push(text) },
    ...{ io: {} as SpecialKeyParts['io'], terminal: never, input: never, setInput: never, pick: never },
  });
  expect(keys.take('mode')).toBe(true);
  expect(chat.permissionMode).toBe('default');
  expect(said).toEqual(['the permission mode stays while a question is open: answer it first\n']);
  desk.current = null;
  keys.take('mode');
  expect(chat.permissionMode).toBe('acceptEdits');
});
