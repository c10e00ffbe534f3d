/**
 * Milliseconds of the machine's clock: the same for all threads and processes of a machine. Whatever clock the program is given
 * (real/rank/rank-globals.ts), this is the system's.
 */
const systemClock: () => bigint = process.hrtime.bigint.bind(process.hrtime);

export const machineMs = (): number => Number(systemClock() / 1_000_000n);
