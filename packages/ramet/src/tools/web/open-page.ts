/**
 * Asks for a page and follows its redirects. Every hop is looked up once, judged, and connected to at the very
 * address that was judged: a name that answers differently the second time gains nothing.
 *
 * With a proxy in the environment the proxy makes the connection and resolves the name again itself; the name must
 * still lead to public addresses as seen from here.
 */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { lookup as lookupAll } from 'node:dns/promises';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { describeError, RametError, systemCode } from '../../schema/errors.ts';
import { type AddressPolicy, publicAddress } from './address-policy.ts';

/** Where the network begins. Tests bring their own; nothing in the environment changes them. */
export interface WebPorts {
  judge: AddressPolicy;
  lookup(host: string): Promise<LookupAddress[]>;
}

export const REAL_WEB: WebPorts = {
  judge: publicAddress,
  lookup: (host) => lookupAll(host, { all: true }),
};

export interface PageRequest {
  url: string;
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

export interface OpenPage {
  url: URL;
  answer: IncomingMessage;
}

const MOST_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);

/** Throws a RametError whose message is for the model. */
export async function openPage(request: PageRequest, ports: WebPorts): Promise<OpenPage> {
  let url = parseUrl(request.url);
  for (let hops = 0; ; hops++) {
    const answer = await ask(url, await findAddress(url, ports), request);
    const { location } = answer.headers;
    if (!REDIRECTS.has(answer.statusCode) || location === undefined) return { url, answer };
    answer.destroy();
    if (hops === MOST_REDIRECTS)
      throw refused(`more than ${MOST_REDIRECTS} redirects, the last to ${location}`);
    url = redirected(url, location);
  }
}

/** Permission was given for one host: another one is for the model to ask for, and for permission to decide again. */
function redirected(from: URL, location: string): URL {
  const url = parseUrl(location, from);
  if (url.hostname === from.hostname) return url;
  throw refused(`${from.href} redirects to another host: call WebFetch with ${url.href} if you want that`);
}

function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null) throw refused(`"${text}" is not a URL; give a whole one, with https://`);
  const where = base === undefined ? '' : `${base.href} redirects to ${url.href}: `;
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refused(`${where}only http and https are fetched, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '')
    throw refused(`${where}a URL with credentials is not fetched`);
  const port = url.port === '' ? null : Number(url.port);
  if (port !== null && port < 1024 && port !== 80 && port !== 443)
    throw refused(
      `${where}port ${port} belongs to another protocol; 80, 443 and those from 1024 on are fetched`,
    );
  return url;
}

/** One address for the host. All it has must be allowed: which of them another look-up gives is chance. */
async function findAddress(url: URL, { judge, lookup }: WebPorts): Promise<LookupAddress> {
  const host = hostOf(url);
  const family = isIP(host);
  const addresses = family === 0 ? await resolve(host, lookup) : [{ address: host, family }];
  for (const { address } of addresses) {
    const reason = judge(address);
    if (reason === null) continue;
    const leads = address === host ? host : `${host} leads to ${address}, which`;
    throw refused(`${leads} is ${reason}: only the public Internet is fetched`);
  }
  const [first] = addresses;
  if (first === undefined) throw refused(`${host} has no address`);
  return first;
}

async function resolve(host: string, lookup: WebPorts['lookup']): Promise<LookupAddress[]> {
  try {
    return await lookup(host);
  } catch (error) {
    throw refused(`${host} cannot be resolved (${systemCode(error) ?? describeError(error)})`);
  }
}

function ask(url: URL, address: LookupAddress, { env, signal }: PageRequest): Promise<IncomingMessage> {
  const client = url.protocol === 'https:' ? https : http;
  const host = hostOf(url);
  // What is not public is asked for directly or not at all: a proxy would look for it in its own network.
  const proxy = publicAddress(address.address) === null ? { proxyEnv: env } : {};
  const pinned: LookupFunction = (name, options, done) => {
    if (name !== host) systemLookup(name, options, done);
    else if (options.all) done(null, [address]);
    else done(null, address.address, address.family);
  };
  return new Promise((take, fail) => {
    const request = client.request({
      agent: new client.Agent(proxy),
      protocol: url.protocol,
      hostname: host,
      port: url.port,
      path: url.pathname + url.search,
      lookup: pinned,
      signal,
      headers: {
        accept: 'text/html, text/plain, application/json, */*;q=0.5',
        'accept-encoding': 'gzip, deflate, br',
        'user-agent': 'Mozilla/5.0 (compatible; ramet)',
      },
    });
    request.once('response', take);
    request.once('error', (error) => fail(signal.aborted ? error : unreachable(url, error)));
    request.end();
  });
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function unreachable({ origin }: URL, error: Error): RametError {
  return refused(`${origin} cannot be reached (${systemCode(error) ?? describeError(error)})`);
}

function refused(message: string): RametError {
  return new RametError('fetch_refused', 'terminal', message);
}
