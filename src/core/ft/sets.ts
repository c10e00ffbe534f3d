/**
 * Correlated sets: processes that are likely to fail together, and that are rolled back together (correlated sets, §3.2). Each rank is
 * in one; sets are numbered from 0 in the order of their lowest ranks.
 */

/** `setOf` of a partition given as lists of ranks; or what is wrong with it, in one line. */
export function setsFromLists(lists: readonly (readonly number[])[], ranks: number): number[] | string {
  const setOf = new Array<number>(ranks).fill(-1);
  const ordered = lists.filter((list) => list.length > 0).map((list) => [...list].sort((a, b) => a - b));
  ordered.sort((one, other) => one[0]! - other[0]!);
  for (const [set, members] of ordered.entries()) {
    for (const rank of members) {
      if (!Number.isInteger(rank) || rank < 0 || rank >= ranks)
        return `rank ${rank}: the job has ranks 0 to ${ranks - 1}`;
      if (setOf[rank] !== -1) return `rank ${rank} is in two sets`;
      setOf[rank] = set;
    }
  }
  const missing = setOf.indexOf(-1);
  return missing >= 0 ? `rank ${missing} is in no set` : setOf;
}

/** One set for each node; `nodes` has that of each rank. */
export const setsByNode = (nodes: readonly number[]): number[] => renumbered(nodes);

/** Every rank for itself. */
export const setsByRank = (ranks: number): number[] => Array.from({ length: ranks }, (_, rank) => rank);

/**
 * A file of sets: a line for each, its ranks separated by blanks or commas, `4-7` for a range; `#` begins a comment. Ranks that
 * no line names are sets of their own.
 */
export function parseSets(text: string, ranks: number): number[] | string {
  const lists: number[][] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const list = parseLine(line.replace(/#.*/, "").trim());
    if (typeof list === "string") return `line ${index + 1}: ${list}`;
    lists.push(list);
  }
  const named = new Set(lists.flat());
  for (let rank = 0; rank < ranks; rank++) if (!named.has(rank)) lists.push([rank]);
  return setsFromLists(lists, ranks);
}

function parseLine(line: string): number[] | string {
  const list: number[] = [];
  for (const word of line.split(/[\s,]+/)) {
    if (word === "") continue;
    const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(word) ?? [];
    if (first === undefined) return `"${word}" is no rank; write 3 or 4-7`;
    const from = Number(first);
    const to = Number(last ?? first);
    if (to < from || to - from > 1 << 20) return `"${word}" is no range of ranks`;
    for (let rank = from; rank <= to; rank++) list.push(rank);
  }
  return list;
}

/** The members of each set, ascending. */
export function membersBySet(setOf: readonly number[]): number[][] {
  const members: number[][] = [];
  for (const [rank, set] of setOf.entries()) {
    members[set] ??= [];
    members[set].push(rank);
  }
  return members;
}

function renumbered(groupOf: readonly number[]): number[] {
  const numbers = new Map<number, number>();
  return groupOf.map((group) => {
    const known = numbers.get(group);
    if (known !== undefined) return known;
    numbers.set(group, numbers.size);
    return numbers.size - 1;
  });
}
