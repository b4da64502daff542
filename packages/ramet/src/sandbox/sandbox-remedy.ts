/** What a person can do where bubblewrap is missing or may not start. Nothing is installed or changed here. */
import { readFileSync } from 'node:fs';

const INSTALLERS: readonly (readonly [program: string, command: string])[] = [
  ['apt-get', 'apt-get install bubblewrap'],
  ['dnf', 'dnf install bubblewrap'],
  ['pacman', 'pacman -S bubblewrap'],
  ['zypper', 'zypper install bubblewrap'],
  ['apk', 'apk add bubblewrap'],
];

/** Settings of the kernel that forbid what bubblewrap needs, and with what value they do. */
const FORBIDDING: readonly (readonly [name: string, value: string, command: string])[] = [
  ['kernel/unprivileged_userns_clone', '0', 'sysctl -w kernel.unprivileged_userns_clone=1'],
  ['user/max_user_namespaces', '0', 'sysctl -w user.max_user_namespaces=15000'],
  [
    ...(['kernel/apparmor_restrict_unprivileged_userns', '1'] as const),
    'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
  ],
];

/** `has` tells whether a program is there. */
export function installRemedy(has: (program: string) => boolean, root: boolean = isRoot()): string {
  const found = INSTALLERS.find(([program]) => has(program));
  return found === undefined ? 'install bubblewrap' : `install bubblewrap: ${asRoot(found[1], root)}`;
}

export function namespaceRemedy(
  setting: (name: string) => string | null = kernelSetting,
  root: boolean = isRoot(),
): string {
  const found = FORBIDDING.find(([name, value]) => setting(name) === value);
  const remedy = 'allow unprivileged user namespaces on this machine';
  return found === undefined ? remedy : `${remedy}: ${asRoot(found[2], root)}`;
}

function kernelSetting(name: string): string | null {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
  } catch {
    return null;
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function asRoot(command: string, root: boolean): string {
  return root ? command : `sudo ${command}`;
}
