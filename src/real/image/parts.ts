/** The parts that remain when `bytes` of them are done: the system may write or read less than it is given. */
export function partsAfter(parts: readonly Uint8Array[], bytes: number): Uint8Array[] {
  const rest: Uint8Array[] = [];
  let done = bytes;
  for (const part of parts) {
    if (done < part.length) rest.push(done > 0 ? part.subarray(done) : part);
    done = Math.max(0, done - part.length);
  }
  return rest;
}

export const withoutEmpty = (parts: readonly Uint8Array[]): Uint8Array[] => parts.filter(({ length }) => length > 0);
