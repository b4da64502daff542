import { expect, test } from 'vitest';
import type { Session } from '../sdk/session/session.ts';
import { answerControl } from './control-requests.ts';

test.for(['a1b2c3d4.2', 'scout'])('UI-4: stop_task of %s ends the agent of that id or name', (task) => {
  const ended: string[] = [];
  const agents = ['scout', 'other'].map((name, index) => ({
    ...{ id: `a1b2c3d4.${index + 2}`, name },
    cancel: () => ended.push(name),
  }));
  let out = '';
  const stream = {
    session: { agents } as unknown as Session, // all that the request asks of a session
    interrupt: () => false,
    out: (line: string) => {
      out += line;
    },
  };
  answerControl(stream, { id: '1', subtype: 'stop_task', fields: { task_id: task } }, 'recipe');
  expect(ended).toEqual(['scout']);
  expect(JSON.parse(out)).toMatchObject({
    response: { subtype: 'success', request_id: '1', response: { stopped: 'a1b2c3d4.2' } },
  });
});
