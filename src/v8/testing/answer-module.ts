/** The smallest module that has something to compile. */

/** Exports `answer`, which returns 42. */
export const answerModule = Uint8Array.from([
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...[1, 5, 1, 0x60, 0, 1, 0x7f],
  ...[3, 2, 1, 0],
  ...[7, 10, 1, 6, ...Buffer.from("answer"), 0, 0],
  ...[10, 6, 1, 4, 0, 0x41, 42, 0x0b],
]);
