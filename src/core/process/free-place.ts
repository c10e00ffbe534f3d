/** Where the next entry of a table goes whose numbers are used again. */
export function freePlace(table: readonly unknown[]): number {
  const free = table.indexOf(null);
  return free >= 0 ? free : table.length;
}
