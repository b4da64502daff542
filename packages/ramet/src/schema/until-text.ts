/** A time to come as people read it: `16:40 (in 2 h 3 min)`, with the day when it is another one. Local time. */
export function untilText(until: number, now: number): string {
  const date = new Date(until);
  const time = [date.getHours(), date.getMinutes()].map(twoDigits).join(':');
  const day =
    date.toDateString() === new Date(now).toDateString()
      ? ''
      : `${MONTHS[date.getMonth()]} ${date.getDate()} `;
  return `${day}${time} (in ${spanText(until - now)})`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Rounded up, so that it is never over before. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return joined(hours, 'h', minutes % 60, 'min');
  return joined(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function joined(whole: number, unit: string, rest: number, smaller: string): string {
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${smaller}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
