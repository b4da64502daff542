/**
 * A session in which the user asks for what a fork has done in advance, killed before step number `killAt` of adopting it: every
 * call that makes, moves or removes a file, and every record, counts. `adopt-runner.ts <cwd> <home> <url> <killAt>`; says `ready` when
 * the first turn is over and what follows it too.
 */
const [cwd = '', home = '', url = '', killAt = '0'] = process.argv.slice(2);
let steps = 0;
let isArmed = false;

function step(): void {
  if (isArmed && ++steps === Number(killAt)) process.kill(process.pid, 'SIGKILL');
}

/** Before anything is loaded that takes them by name. */
const fs = process.getBuiltinModule('node:fs');
for (const name of ['openSync', 'linkSync', 'renameSync', 'rmSync', 'mkdirSync'] as const) {
  const original: object = fs[name];
  const counted = new Proxy(original, {
    apply(target, self, values) {
      step();
      // What it stands for is a function.
      return Reflect.apply(target as () => unknown, self, values);
    },
  });
  Reflect.set(fs, name, counted);
}
process.getBuiltinModule('node:module').syncBuiltinESMExports();
const { openSession } = await import('../../src/sdk/index.ts');

const env = { PATH: process.env.PATH, RAMET_HOME: home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'test' };
await using session = await openSession({
  ...{ cwd, env, attended: true, permissionMode: 'bypassPermissions' },
  settings: { background: { speculation: { enabled: true } }, memory: { enabled: false } },
  onRecord: (_, event) => {
    if (event.type === 'message.appended' || event.type === 'files.settled') step();
    if (event.type === 'agent.ended') step();
  },
});
for await (const _ of session.run('Work.'));
await session.background?.idle();
process.stdout.write('ready\n');
isArmed = true;
for await (const _ of session.run('Add a test.'));
