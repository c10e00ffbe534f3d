/**
 * What processes say to each other when a lost replica comes back as a clone of another one (revival.ts). Three words each, so a statement of
 * what a process holds is several: BELOW, then runs of numbers as in acknowledgements.
 */
export const RevivalWord = {
  /** The source of a clone, to everybody: replica and life of the clone. To replicas of its own rank FILES comes first. */
  PREPARE: 16,
  /** The answer: whatever the clone may lack is kept from now on. */
  PREPARED: 17,
  /** The source: its image is taken, or will not be. */
  RELAX: 18,
  /** How many operations on files the source knows, and how many its program is past. */
  FILES: 19,
  /** The clone, to everybody: its life. To other ranks a statement follows, and TOLD. */
  HELLO: 20,
  /** The speaker holds all messages below this number. */
  BELOW: 21,
  TOLD: 22,
  /** A replica of the clone's rank, to everybody: it knows of the clone, and sends nothing in its place any more. Replica and life. */
  AWARE: 23,
  /** To the clone: that message is being taken from another replica. */
  ELSEWHERE: 24,
  /** To the clone, behind a statement: its messages will be taken. Its life. */
  WELCOME: 25,
  /** To a sender: the bytes of that message were being taken from a replica that is dead. */
  AGAIN: 26,
} as const;
