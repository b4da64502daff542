/**
 * Which addresses of the network a page may come from: the public Internet, and nothing that is only reachable
 * because this machine asks (SEC-1). IPv4 is listed by what is refused, IPv6 by what is allowed, since nearly all
 * of it is unassigned. Forms that carry an IPv4 address within an IPv6 one are refused whole, except the mapped
 * form, which is judged by the address it carries.
 */
import { BlockList, isIP } from 'node:net';

/** Null when pages may be fetched from this address, else the reason why not. */
export type AddressPolicy = (address: string) => string | null;

const REFUSED_V4: readonly (readonly [network: string, prefix: number, kind: string])[] = [
  ['0.0.0.0', 8, 'this host'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'carrier-internal'],
  ['127.0.0.0', 8, 'loopback'],
  ['168.63.129.16', 32, 'a cloud’s own service'],
  ['169.254.0.0', 16, 'link-local'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'reserved'],
  ['192.0.2.0', 24, 'reserved'],
  ['192.88.99.0', 24, 'reserved'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'reserved'],
  ['198.51.100.0', 24, 'reserved'],
  ['203.0.113.0', 24, 'reserved'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
];

const v4 = REFUSED_V4.map(([network, prefix, kind]) => {
  const list = new BlockList();
  list.addSubnet(network, prefix, 'ipv4');
  return { list, kind };
});

const globalV6 = new BlockList();
globalV6.addSubnet('2000::', 3, 'ipv6');

/** Parts of that range that lead elsewhere: protocol assignments and Teredo, examples, 6to4. */
const refusedV6 = new BlockList();
refusedV6.addSubnet('2001::', 23, 'ipv6');
refusedV6.addSubnet('2001:db8::', 32, 'ipv6');
refusedV6.addSubnet('2002::', 16, 'ipv6');
refusedV6.addSubnet('3fff::', 20, 'ipv6');

export const publicAddress: AddressPolicy = (address) => {
  switch (isIP(address)) {
    case 4:
      return v4.find(({ list }) => list.check(address, 'ipv4'))?.kind ?? null;
    case 6: {
      const mapped = mappedAddress(address);
      if (mapped !== null) return publicAddress(mapped);
      return globalV6.check(address, 'ipv6') && !refusedV6.check(address, 'ipv6') ? null : 'not public';
    }
    default:
      return 'not an address';
  }
};

/** `::ffff:7f00:1` and `::ffff:127.0.0.1` carry 127.0.0.1. */
function mappedAddress(address: string): string | null {
  // The URL parser brings every spelling into the shortest one.
  const canonical = new URL(`http://[${address.replace(/%.*$/, '')}]/`).hostname;
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return null;
  const number = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
}
