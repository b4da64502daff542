/**
 * Undoes, or does again, what a session changed, and kills itself before step number `killAt`: every look for an
 * original and every step of the journal counts. `undo-runner.ts <project> <session> <undo|redo> <killAt>`.
 */
import { undoSession } from '../fixtures/undo-session.ts';

const [project = '', session = '', wanted = '', killAt = '0'] = process.argv.slice(2);
let steps = 0;

function counted<Parts extends object>(parts: Parts): Parts {
  return new Proxy(parts, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || name === 'close') return value;
      return (...values: unknown[]) => {
        if (++steps === Number(killAt)) process.kill(process.pid, 'SIGKILL');
        return value.apply(target, values);
      };
    },
  });
}

await undoSession({ project, session }, wanted, counted);
