/**
 * The identity of a process. A *rank* is the logical number that programs, groups, matching, statuses, records and images know; one or more
 * processes play it, its *replicas*; a process that is lost and started again is another *incarnation*, a new life. None of them
 * says where a process is: that is its place, which no image knows (docs/adr/0016-ranks-and-processes.md).
 */

/** A process as protocols know it: which of those that play a rank. */
export interface ProcessName {
  readonly rank: number;
  /** 0 … 255. */
  readonly replica: number;
}

/** One life of it. */
export interface Identity extends ProcessName {
  /** From 0; packets have the last 16 bits. */
  readonly incarnation: number;
}
