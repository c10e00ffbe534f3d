/**
 * The verdict on a message: the process that has it is one voter, and what other replicas of its sender say that they have sent are the others. A
 * value counts that more than half of them have.
 */
export const VoteVerdict = {
  /** Nobody else has a vote: it cannot be compared. */
  ALONE: 0,
  RIGHT: 1,
  /** The others have sent something else. */
  WRONG: 2,
  /** No value has more than half of the votes. */
  UNDECIDED: 3,
} as const;
export type VoteVerdict = (typeof VoteVerdict)[keyof typeof VoteVerdict];

/** Votes on one message. */
interface Ballot {
  /** Bits: the replicas that have voted. */
  readonly voted: number;
  /** Has that replica voted for what came? */
  agrees(replica: number): boolean;
  /** Have those two voted for the same? */
  agree(one: number, other: number): boolean;
}

/** `sender`: the replica whose message came; its vote is the message. */
export function judgeVotes({ voted, agrees, agree }: Ballot, sender: number): VoteJudgement {
  const others = voted & ~(1 << sender);
  if (others === 0) return { verdict: VoteVerdict.ALONE, accused: 0 };
  let forIt = 1 << sender;
  for (let replica = 0; others >>> replica !== 0; replica++) {
    if ((others & (1 << replica)) !== 0 && agrees(replica)) forIt |= 1 << replica;
  }
  const all = others | (1 << sender);
  if (isMajority(forIt, all)) return { verdict: VoteVerdict.RIGHT, accused: all & ~forIt };
  for (let replica = 0; others >>> replica !== 0; replica++) {
    if ((others & (1 << replica)) === 0 || (forIt & (1 << replica)) !== 0) continue;
    let alike = 0;
    for (let other = 0; others >>> other !== 0; other++) {
      if ((others & ~forIt & (1 << other)) !== 0 && agree(replica, other)) alike |= 1 << other;
    }
    if (isMajority(alike, all)) return { verdict: VoteVerdict.WRONG, accused: all & ~alike };
  }
  return { verdict: VoteVerdict.UNDECIDED, accused: 0 };
}

interface VoteJudgement {
  readonly verdict: VoteVerdict;
  /** Bits: replicas that have sent something else than most. */
  readonly accused: number;
}

const isMajority = (some: number, all: number): boolean => 2 * countOf(some) > countOf(all);

function countOf(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count++;
  return count;
}
