/** Whether a year of the Gregorian calendar has a 29th of February. */
export function isLeapYear(year) {
  return year % 4 === 0;
}
