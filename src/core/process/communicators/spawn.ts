import { saves } from "../../base/saved-classes.ts";
import { kindCode, unlike } from "../../coll/engine/collective-call.ts";
import { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";
import { spawnSeed } from "../context.ts";
import type { Process } from "../process.ts";
import type { Creation } from "../task.ts";
import { inCommonOrder } from "./member-order.ts";
import { NewCommunicator } from "./new-communicator.ts";
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
      if (this.error !== 0) return true;
      const [, , children, characters] = this.head;
      const words = this.outcome === null ? new Int32Array(children! + characters!) : wordsOf(this.outcome);
      this.spread = this.told(words);
    }
    if (this.children === null) {
      const words = this.spread.advance(process);
      if (words === null) return false;
      this.error = this.spread.error;
      if (this.error !== 0) return true;
      this.outcome = outcomeOf(this.head, words);
      this.error = this.outcome.error;
      if (this.error !== 0) return true;
      this.children = Group.of(this.outcome.children);
    }
    const seed = spawnSeed(this.local.context, this.outcome!.children[0]!);
    const isOver = this.agree(process, inCommonOrder(this.local.group, this.children), this.local, this.count, seed);
    if (this.result !== null) process.connect(this.result);
    return isOver;
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
