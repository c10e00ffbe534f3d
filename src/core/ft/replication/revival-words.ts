/**
 * What processes say to each other when a lost replica comes back as a clone of another one (revival.ts). Three words each, so a statement of
 * what a process holds is several: BELOW, then runs of numbers as in acknowledgements.
 */
const kind = 0xf;

export const isRevivalWord = (first: number): boolean => (first & kind) === kind;

export const RevivalWord = {
  /** The source of a clone, to everybody: replica of the clone and round, its life. LOST comes first, to replicas of its own rank FILES too. */
  PREPARE: 0x00 | kind,
  /** The answer: whatever the clone may lack is kept from now on. */
  PREPARED: 0x10 | kind,
  /** The source: its image is taken, or will not be. */
  RELAX: 0x20 | kind,
  /** How many operations on files the source knows, and how many its program is past. */
  FILES: 0x30 | kind,
  /** The clone, to everybody: its life. To other ranks a statement follows, and TOLD. */
  HELLO: 0x40 | kind,
  /** The speaker holds all messages below this number. */
  BELOW: 0x50 | kind,
  TOLD: 0x60 | kind,
  /** A replica of the clone's rank, to everybody: it knows of the clone, and sends nothing in its place any more. Replica and life. */
  AWARE: 0x70 | kind,
  /** To the clone: that message is being taken from another replica. */
  ELSEWHERE: 0x80 | kind,
  /** To the clone, behind a statement: its messages will be taken. Its life. */
  WELCOME: 0x90 | kind,
  /** To a sender: the bytes of that message were being taken from a replica that is dead. */
  AGAIN: 0xa0 | kind,
  /** The clone: its world has sent all that its source had seen. Its life. */
  CAUGHT_UP: 0xb0 | kind,
  /** The source: that process is dead, in that life. Rank and replica in one number. */
  LOST: 0xc0 | kind,
  /** The rank of whoever hears it has sent that message, or all before it. To which rank and in which world, in one number. */
  SENT: 0xd0 | kind,
  SENT_BEFORE: 0xe0 | kind,
  /** Behind such: that is all. Which question it answers, and the life of the clone. */
  SAID: 0xf0 | kind,
  /** Instead of PREPARED: that will come when this process has sent as much as was sent in the clone's world. */
  LACKING: 0x100 | kind,
} as const;
