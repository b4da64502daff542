/** Renders one page in a thread of its own, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { type PageBytes, renderPage } from './render-page.ts';

parentPort?.postMessage(renderPage(workerData as PageBytes)); // given by `render-aside.ts`
