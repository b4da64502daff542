/** Preloaded into a command: its wall clock jumps by `FAULT_CLOCK_JUMP_MS`, a little after it has begun. */
const jump = Number(process.env.FAULT_CLOCK_JUMP_MS ?? 0);
const real = Date.now;
const at = real() + 400;
Date.now = () => (real() > at ? real() + jump : real());
