/**
 * A host name in the one form that rules are compared in: `EVIL.com.` and `evil.com` are the same host, and a name with
 * letters of other alphabets is the one that goes over the wire. Null for what is no host name.
 */
export function plainHost(name: string): string | null {
  const url = `http://${name}/`;
  if (/[/?#@\\\s]/.test(name) || !URL.canParse(url)) return null;
  const { hostname, port } = new URL(url);
  const plain = hostname.toLowerCase().replace(/\.+$/, '');
  return plain === '' || port !== '' ? null : plain;
}
