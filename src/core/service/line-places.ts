/** Where a stream of a rank is: the number of the line that is written next or goes on, and how much of it has been written. */
export interface LinePlace {
  line: number;
  offset: number;
}

const newline = 10;

/** These bytes have been written there. */
export function passOver(place: LinePlace, bytes: Uint8Array): void {
  const lines = countLines(bytes);
  place.line += lines;
  place.offset = lines === 0 ? place.offset + bytes.length : bytes.length - 1 - bytes.lastIndexOf(newline);
}

export function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) lines++;
  return lines;
}
