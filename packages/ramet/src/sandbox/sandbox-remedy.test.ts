import { describe, expect, test } from 'vitest';
import { installRemedy, namespaceRemedy } from './bubblewrap.ts';

describe('RES-3: what to do about a sandbox that is missing', () => {
  test('the command that installs it, as who may', () => {
    expect(installRemedy((program) => program === 'apt-get', false)).toBe(
      'install bubblewrap: sudo apt-get install bubblewrap',
    );
    expect(installRemedy((program) => program === 'apk', true)).toBe(
      'install bubblewrap: apk add bubblewrap',
    );
    expect(installRemedy(() => false)).toBe('install bubblewrap');
  });

  test('the setting of the kernel that forbids it', () => {
    const restricted = (name: string): string | null =>
      name === 'kernel/apparmor_restrict_unprivileged_userns' ? '1' : null;
    expect(namespaceRemedy(restricted, false)).toBe(
      'allow unprivileged user namespaces on this machine: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
    );
    expect(namespaceRemedy(() => null)).toBe('allow unprivileged user namespaces on this machine');
  });
});
