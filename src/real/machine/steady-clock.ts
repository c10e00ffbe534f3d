/**
 * Milliseconds since the thread began. The runtime's own clock, whatever clock the program is given
 * (real/rank/rank-globals.ts).
 */
export const steadyMs: () => number = performance.now.bind(performance);
