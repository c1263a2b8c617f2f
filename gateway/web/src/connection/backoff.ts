// How long to wait before the next attempt to connect?

const FIRST_MS = 250;
const LONGEST_MS = 5000;

/**
 * Doubles from 0.25 s to 5 s. Up to a fifth is taken off by chance, so that many tabs do not all come
 * back at once.
 */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 10));
  return Math.round(full * (1 - 0.2 * random()));
}
