/** Which ranks of a C program share a thread. */

interface Crowd {
  readonly ranks: number;
  readonly nodes: number;
  /** Of the machine that all nodes are on. */
  readonly cores: number;
}

/**
 * With a core for every rank each has a thread. With fewer cores ranks take turns in as many threads as there are cores: a switch from
 * one rank to another takes a microsecond or two inside a thread, several between threads, and a thread takes 40 ms of processor time
 * to start and 8 MB of memory.
 */
export function packingFor({ ranks, nodes, cores }: Crowd): number {
  if (ranks <= cores || !(nodes >= 1)) return 1;
  const ranksOfNode = Math.ceil(ranks / nodes);
  const threadsOfNode = Math.max(1, Math.floor(cores / nodes));
  return Math.ceil(ranksOfNode / threadsOfNode);
}

/**
 * The members of each thread. Ranks that are far apart in a program's order often differ in the work they have (a triangle's rows, a
 * grid's edges), so they are dealt out to and fro, as cards: 0 3 4 7 and 1 2 5 6.
 */
export function dealt<T>(ranks: readonly T[], perThread: number): T[][] {
  const threads = Math.ceil(ranks.length / perThread);
  const groups = Array.from({ length: threads }, (): T[] => []);
  ranks.forEach((rank, i) => {
    const place = i % (2 * threads);
    groups[place < threads ? place : 2 * threads - 1 - place]!.push(rank);
  });
  return groups;
}
