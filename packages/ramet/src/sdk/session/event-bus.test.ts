import { expect, test } from 'vitest';
import { EventBus } from './event-bus.ts';

test('UI-1: everybody hears everything in order, until they leave', () => {
  const bus = new EventBus<string>();
  const heard: string[] = [];
  const leave = bus.subscribe((event) => heard.push(`first: ${event}`));
  bus.subscribe((event) => heard.push(`second: ${event}`));
  bus.publish('one');
  leave();
  bus.publish('two');
  expect(heard).toEqual(['first: one', 'second: one', 'second: two']);
});

test('UI-1: a bus knows whether anybody hears it', () => {
  const bus = new EventBus<string>();
  expect(bus.isHeard).toBe(false);
  const leave = bus.subscribe(() => {});
  expect(bus.isHeard).toBe(true);
  leave();
  expect(bus.isHeard).toBe(false);
});
