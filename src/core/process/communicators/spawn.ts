import { ErrorClass } from "../../base/mpi-error.ts";
import { saves } from "../../base/saved-classes.ts";
import { kindCode, unlike } from "../../coll/engine/collective-call.ts";
import { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";
import { spawnSeed } from "../context.ts";
import type { Process } from "../process.ts";
import type { Creation } from "../task.ts";
import { ContextAgreement } from "./context-agreement.ts";
import { sayFarewell } from "./final-meeting.ts";
import { inCommonOrder } from "./member-order.ts";
import { NewCommunicator, noContext } from "./new-communicator.ts";
import { WordBroadcast } from "./word-broadcast.ts";

/** The result of a spawn, as the root knows it. Plain data. */
export interface SpawnOutcome {
  /** An error class; 0: they are there. */
  readonly error: number;
  readonly why: string;
  /** How many were wanted. */
  readonly wanted: number;
  readonly children: readonly number[];
}

const headWords = 4;

/** The parents' part of MPI_Comm_spawn: the root tells the others which processes have been started, then all agree with the children. */
export class Spawn extends NewCommunicator {
  /** Known at the root from the start, at the others when the task has ended. */
  outcome: SpawnOutcome | null;
  private readonly local: Communicator;
  private readonly root: number;
  private readonly count: number;
  /** Among the collectives of `local`. */
  private readonly number: number;
  private spread: WordBroadcast;
  private head: Int32Array | null = null;
  private children: Group | null = null;

  /** `outcome` is null on all but the root. */
  constructor(local: Communicator, root: number, outcome: SpawnOutcome | null) {
    super();
    this.local = local;
    this.root = root;
    this.outcome = outcome;
    this.count = local.children++;
    this.number = local.nextCollective(kindCode.comm_spawn, root, unlike);
    this.spread = this.told(outcome === null ? new Int32Array(headWords) : headOf(outcome));
  }

  override get creation(): Creation {
    return { comm: this.local, number: this.number, kind: kindCode.comm_spawn };
  }

  override advance(process: Process): boolean {
    if (this.head === null) {
      this.head = this.spread.advance(process);
      if (this.head === null) return false;
      this.error = this.spread.error;
      if (this.error !== 0) return this.leave(process);
      const [, , children, characters] = this.head;
      const words = this.outcome === null ? new Int32Array(children! + characters!) : wordsOf(this.outcome);
      this.spread = this.told(words);
    }
    if (this.children === null) {
      const words = this.spread.advance(process);
      if (words === null) return false;
      this.error = this.spread.error;
      if (this.error !== 0) return this.leave(process);
      this.outcome = outcomeOf(this.head, words);
      this.error = this.outcome.error;
      if (this.error !== 0) return true;
      this.children = Group.of(this.outcome.children);
    }
    const isOver = this.agree(process, this.membersWith(this.children), this.local, this.count, this.seed);
    if (this.result !== null) process.connect(this.result);
    else if (isOver && this.lastContext !== noContext) sayFarewell(process.engine, this.lastContext, this.children);
    return isOver;
  }

  private membersWith(children: Group): Group {
    return inCommonOrder(this.local.group, children);
  }

  private get seed(): number {
    return spawnSeed(this.local.context, this.outcome!.children[0]!);
  }

  /** The parents have failed: children hear of deaths by themselves, of a revocation from the root. */
  private leave(process: Process): boolean {
    const children = Group.of(this.local.rank === this.root ? this.outcome!.children : []);
    if (children.size === 0) return true;
    const agreement = new ContextAgreement(this.membersWith(children), this.seed, this.count, false);
    if (this.error === ErrorClass.REVOKED) agreement.giveUp(process);
    return true;
  }

  private told(words: Int32Array): WordBroadcast {
    return new WordBroadcast(this.local, this.root, words, this.number);
  }

  protected override sides(): { group: Group; remote: Group | null } {
    return { group: this.local.group, remote: this.children };
  }
}

function headOf({ error, wanted, children, why }: SpawnOutcome): Int32Array {
  return Int32Array.of(error, wanted, children.length, why.length);
}

/** The children, then the text, a word for each character: it is short, and told once. */
function wordsOf({ children, why }: SpawnOutcome): Int32Array {
  return Int32Array.from([...children, ...Array.from({ length: why.length }, (_, i) => why.charCodeAt(i))]);
}

function outcomeOf([error, wanted, count]: Int32Array, words: Int32Array): SpawnOutcome {
  const children = Array.from(words.subarray(0, count));
  return { error: error!, wanted: wanted!, children, why: String.fromCharCode(...words.subarray(count)) };
}

saves({ Spawn });
