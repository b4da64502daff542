/** A login at a server over HTTP: the browser's part of the SDK's OAuth. */
import { UserMistake } from '../../schema/errors.ts';
import { onAbort } from '../../system/on-abort.ts';
import { awaitBrowser, oauthProvider } from './login.ts';
import { createClient, finishLogin, httpTransport, isLoginRefused } from './sdk-client.ts';
import type { HttpServer } from './server-config.ts';
import { openTokens } from './token-store.ts';

export async function logIn(
  server: HttpServer,
  { home, visit, signal }: { home: string; visit(url: string): void; signal: AbortSignal },
): Promise<void> {
  await using browser = await awaitBrowser();
  const store = openTokens(home, server.url);
  // The address that the browser comes back to is another each time, and the client is registered with it.
  store.set('client', undefined);
  const provider = oauthProvider(store, {
    redirectUrl: browser.redirectUrl,
    visit: (url) => visit(url.href),
  });
  const transport = httpTransport(server, provider);
  const parts = { server: 'login', version: '0', cwd: '/', onToolsChanged() {} };
  const client = createClient({ ...parts, elicit: async () => ({ action: 'decline' }) });
  try {
    await client.connect(transport, { signal });
    return;
  } catch (error) {
    if (!isLoginRefused(error)) throw error;
  } finally {
    await client.close().catch(() => {});
  }
  const aborted = Promise.withResolvers<never>();
  const unlink = onAbort(signal, () =>
    aborted.reject(new UserMistake('mcp_login', 'the login was given up')),
  );
  try {
    await finishLogin(httpTransport(server, provider), await Promise.race([browser.answer, aborted.promise]));
  } finally {
    unlink();
  }
}
