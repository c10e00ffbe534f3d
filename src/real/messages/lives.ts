/** The lives of ranks: which is the present one, how the next one begins, how far each has come. */

/** Which life of a rank. */
export interface Life {
  readonly rank: number;
  readonly incarnation: number;
}

/** How many calls a rank has passed in its present life, counted from the beginning of the program. */
export interface CallsPassed {
  readonly rank: number;
  readonly calls: number;
}

/** For nodes and ranks of a job in which lost ranks are started again. */
export interface RecoveryFacts {
  /** Set of each rank: those that fall, and are captured, together. */
  readonly setOf: readonly number[];
  /** Which life of each rank is the present one. */
  readonly incarnations: readonly number[];
  /** Where images of checkpoints are written: a folder for each set, one in it for each number. */
  readonly checkpointFolder: string;
  /** When the job began, in milliseconds since 1970. */
  readonly beganMs: number;
}

/** How a rank begins its next life. */
export interface RankRestart {
  readonly rank: number;
  readonly incarnation: number;
  /** The checkpoint that it goes on from; 0: the start of the program. */
  readonly checkpoint: number;
  /** For its protocol, see `Beginning`. */
  readonly data: unknown;
}
