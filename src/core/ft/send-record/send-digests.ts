/**
 * A running hash of what a process sends, for comparison with other replicas of its rank.
 *
 * Messages of a channel have the same numbers in every replica (rule 1), so a channel is cut into blocks of `blockMessages`, and a
 * block is summed up in one word: the sum of the terms of its messages (`send-hash.ts`). A sum, because messages of non-blocking
 * collectives are posted when their time has come, not in the order of their numbers. When the last message of a block has been
 * posted the digest is complete: the process tells it to other replicas now and then, and `DigestComparison` compares.
 *
 * Bounded: `blocksOpenMax` blocks of a channel can be open. If a message stays unposted for longer, its block is never compared;
 * `skipped` counts these. Nothing is allocated but for the first message to a rank.
 */
import { assert } from "../../base/assert.ts";
import { lives, saves } from "../../base/saved-classes.ts";

export const blockMessages = 64;
const blocksOpenMax = 8;

/** Told when all messages of a block have been posted. */
type DigestComplete = (dest: number, block: number, digest: number) => void;

/** The blocks of a channel that are open, by block number modulo `blocksOpenMax`. */
class OpenBlocks {
  /** Blocks below this one are closed. */
  first = 0;
  readonly sums = new Int32Array(blocksOpenMax);
  readonly counts = new Int32Array(blocksOpenMax);
}

export class SendDigests {
  static readonly unsaved = { complete: null };
  private readonly channels = new Map<number, OpenBlocks>();
  private readonly complete: DigestComplete;
  /** Blocks that were given up. */
  skipped = 0;

  constructor(complete: DigestComplete) {
    this.complete = complete;
  }

  /** A message was posted. Each once. */
  add(dest: number, sequence: number, term: number): void {
    let open = this.channels.get(dest);
    if (open === undefined) {
      open = new OpenBlocks();
      this.channels.set(dest, open);
    }
    const block = Math.floor((sequence >>> 0) / blockMessages);
    if (block < open.first) return;
    while (block >= open.first + blocksOpenMax) this.giveUpFirst(open);
    const slot = block % blocksOpenMax;
    open.sums[slot] = (open.sums[slot]! + term) | 0;
    open.counts[slot]!++;
    assert(open.counts[slot]! <= blockMessages, `a block of more than ${blockMessages} messages`);
    if (open.counts[slot] !== blockMessages) return;
    this.complete(dest, block, open.sums[slot]!);
    this.closeComplete(open);
  }

  /** A block that is complete stays until those before it are closed, so that blocks are closed in order. */
  private closeComplete(open: OpenBlocks): void {
    while (open.counts[open.first % blocksOpenMax] === blockMessages) this.close(open);
  }

  private giveUpFirst(open: OpenBlocks): void {
    this.skipped++;
    this.close(open);
    this.closeComplete(open);
  }

  private close(open: OpenBlocks): void {
    const slot = open.first++ % blocksOpenMax;
    open.sums[slot] = 0;
    open.counts[slot] = 0;
  }
}

/** How many digests of a channel wait for their counterparts. */
const waitingMax = 16;
const empty = -1;

/** Digests of one channel, by block number modulo `waitingMax`. */
class WaitingDigests {
  readonly blocks = new Int32Array(waitingMax).fill(empty);
  readonly digests = new Int32Array(waitingMax);
}

/** A block of a channel in which two replicas have sent different messages. */
interface Divergence {
  readonly dest: number;
  /** Numbers of the first and the last message of the block. */
  readonly firstSequence: number;
  readonly lastSequence: number;
}

/**
 * Compares digests of this process with those that one other replica tells: there is one comparison for each of the others. Either digest
 * of a block may come first; the first waits. A digest that waits while `waitingMax` more blocks of its channel pass is forgotten, and
 * its block not compared: replicas that are so far apart are compared again when they come closer.
 */
export class DigestComparison {
  private readonly mine = new Map<number, WaitingDigests>();
  private readonly theirs = new Map<number, WaitingDigests>();
  /** Blocks that were compared. */
  compared = 0;

  /** This process has completed a block. */
  own(dest: number, block: number, digest: number): Divergence | null {
    return this.meet(this.mine, this.theirs, dest, block, digest);
  }

  /** The other replica has told its digest of a block. */
  told(dest: number, block: number, digest: number): Divergence | null {
    return this.meet(this.theirs, this.mine, dest, block, digest);
  }

  private meet(
    ours: Map<number, WaitingDigests>,
    counterparts: Map<number, WaitingDigests>,
    dest: number,
    block: number,
    digest: number,
  ): Divergence | null {
    const slot = block % waitingMax;
    const counterpart = counterparts.get(dest);
    if (counterpart === undefined || counterpart.blocks[slot] !== block) {
      put(ours, dest, block, digest);
      return null;
    }
    counterpart.blocks[slot] = empty;
    this.compared++;
    if (counterpart.digests[slot] === digest) return null;
    const firstSequence = block * blockMessages;
    return { dest, firstSequence, lastSequence: firstSequence + blockMessages - 1 };
  }
}

function put(table: Map<number, WaitingDigests>, dest: number, block: number, digest: number): void {
  let waiting = table.get(dest);
  if (waiting === undefined) {
    waiting = new WaitingDigests();
    table.set(dest, waiting);
  }
  const slot = block % waitingMax;
  waiting.blocks[slot] = block;
  waiting.digests[slot] = digest;
}

lives({ SendDigests, DigestComparison });
saves({ OpenBlocks, WaitingDigests });
