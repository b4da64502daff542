import { describe, expect, test, vi } from 'vitest';
import { QUIET_STATE } from '../../../../test/fixtures/quiet-state.ts';
import { TerminalView } from './terminal-view.ts';
import { textStyle } from './text-style.ts';

describe('UI-1: a terminal that takes nothing for a while', () => {
  test('is drawn when it takes again: once, with all that was printed meanwhile, up to a bound', () => {
    vi.useFakeTimers();
    try {
      const writes: string[] = [];
      const device = {
        columns: 80,
        rows: 24,
        isBehind: true,
        write: (text: string) => void writes.push(text),
        ask: async () => null,
        lend: async () => {},
        [Symbol.dispose]() {},
      };
      const look = { colours: false, links: false };
      const view = new TerminalView(device, textStyle(false), look, () => QUIET_STATE);
      for (let line = 0; line < 20_010; line++) view.print(`line ${line}\n`);
      vi.advanceTimersByTime(5_000);
      expect(writes).toEqual([]);
      device.isBehind = false;
      vi.advanceTimersByTime(100);
      expect(writes).toHaveLength(1);
      expect(writes[0]).toContain('line 0\r\n');
      expect(writes[0]).toContain('line 20000\r\n');
      expect(writes[0]).toContain('(9 parts of the output are left out');
      view.print('again\n');
      vi.advanceTimersByTime(100);
      expect(writes[1]).toContain('again\r\n');
    } finally {
      vi.useRealTimers();
    }
  });
});
