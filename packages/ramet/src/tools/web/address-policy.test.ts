import { describe, expect, test } from 'vitest';
import { publicAddress } from './address-policy.ts';

describe('SEC-1: a page may come from', () => {
  test.for([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:80b::200e',
    '::ffff:8.8.8.8',
  ])('%s', (address) => {
    expect(publicAddress(address)).toBeNull();
  });
});

describe('SEC-1: no page comes from', () => {
  test.for([
    '0.0.0.0',
    '10.1.2.3',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:a9fe:a9fe',
    '0:0:0:0:0:ffff:a00:1',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '2001:0:53aa:64c::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'localhost',
    '',
  ])('%s', (address) => {
    expect(publicAddress(address)).toEqual(expect.any(String));
  });
});
