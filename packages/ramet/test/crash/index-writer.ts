/** A process that enters and ends sessions in the index. Arguments: project, name, count. Prints `ack <session>`. */
import { newLease } from '../../src/journal/lease.ts';
import { Registration } from '../../src/journal/session-index.ts';

const [project = '', name = '', count = '0'] = process.argv.slice(2);
const lease = newLease(0);
for (let number = 1; number <= Number(count); number++) {
  const session = `${name}-${number}`;
  const entry = { session, created: number, opened: number, ended: null, cwd: '/w', title: null };
  const warn = (message: string): void => {
    throw new Error(message);
  };
  const registration = new Registration({ project, entry, titleNow: () => null, lease, warn });
  // Some enter at once, some only at their end.
  if (number % 2 === 0) registration.register();
  registration.end(number + 1);
  console.log(`ack ${session}`);
}
