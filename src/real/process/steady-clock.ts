/** Milliseconds since the thread began. Ours, whatever the program is given for its own (real/node/rank-globals.ts). */
export const steadyMs: () => number = performance.now.bind(performance);
