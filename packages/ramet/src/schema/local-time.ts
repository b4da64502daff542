/**
 * Times as a person reads them: in the zone of this machine, and no longer than needed. JSON has UTC instead.
 */
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** When something happened, for one line of a list: `14:05` today, `yesterday 14:05`, `Nov 3 14:05` this year, else `2025-11-03 14:05`. */
export function localTime(time: number, now: number): string {
  const date = new Date(time);
  const hours = `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
  if (dayOf(date) === dayOf(new Date(now))) return hours;
  const today = new Date(now);
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  if (dayOf(date) === dayOf(yesterday)) return `yesterday ${hours}`;
  if (date.getFullYear() === today.getFullYear())
    return `${MONTHS[date.getMonth()]} ${date.getDate()} ${hours}`;
  return `${dayOf(date)} ${hours}`;
}

/** `2026-11-16 14:05:09.123`: for lists in which every moment counts. */
export function localMoment(time: number): string {
  return `${localSecond(time)}.${String(new Date(time).getMilliseconds()).padStart(3, '0')}`;
}

/** `2026-11-16 14:05:09`: for a sentence that is kept, and may be read on another day. */
export function localSecond(time: number): string {
  const date = new Date(time);
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':');
  return `${dayOf(date)} ${clock}`;
}

/** `2026-11-16`. */
export function localDay(time: number): string {
  return dayOf(new Date(time));
}

function dayOf(date: Date): string {
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
