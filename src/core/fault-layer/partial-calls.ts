/**
 * Calls that only some members of a communicator make: MPI_Comm_create_group, MPI_Intercomm_create_from_groups. They have no communicator of their own
 * whose synchronisation could say that all of them have come, and the dead, who know nothing of the call, cannot report in advance.
 *
 * So those that make the call gather over a tree of their own: each tells its predecessor when it and all below it have come, and the word "go" comes down
 * again. Nobody dies inside a call, so with "go" all of them are there, and the base may begin. Otherwise the call fails, at all of them:
 *
 *  - Every process hears of every death. One that has not yet said that it is there fails as soon as it knows that a process of the call is dead. One
 *    that has waits for its predecessor's word.
 *  - A predecessor that is dead, or that knows of a dead one among them, or that the communicator is revoked, answers so, whether its program
 *    has come to the call, will come, or is elsewhere by now: the word tells who makes the call.
 *
 * A process that had come to a call lived on until its end. So a call with a dead process among those that have not ended it can end in one way only, and all
 * of them say the same.
 */
import type { WorldRank } from "../base/brand.ts";
import { ErrorClass, type ErrorCode } from "../base/mpi-error.ts";
import type { Group } from "../comm/group.ts";
import { Say } from "./side-channel.ts";
import { predecessorOf, successorsOf } from "./tree.ts";

/** The layer of the process, as this file needs it. */
interface PartialHost {
  readonly rank: WorldRank;
  readonly fanOut: number;
  readonly isDead: boolean;
  say(comm: null, to: WorldRank, kind: Say, words: readonly number[]): void;
  isKnownDead(rank: WorldRank): boolean;
  /** Is the communicator with that context there, and known to be revoked? */
  isRevokedContext(context: number): boolean;
}

/** A call, in words that mean the same to all that make it: context of the communicator, tag, world ranks in the order of their group. */
type PartialWords = readonly number[];
const membersAt = 2;
const keyOf = (words: PartialWords): string => words.join(" ");

/** A call that this process has come to. */
class PartialTurn {
  readonly words: PartialWords;
  readonly predecessor: WorldRank | null;
  /** Successors that have not come. */
  readonly missing: Set<WorldRank>;
  /** Those that have, and wait for a word. */
  readonly waiting: WorldRank[] = [];
  /** It has said that it is there, with all below it. */
  hasReported = false;
  isOver = false;
  error: ErrorCode = 0;

  constructor(words: PartialWords, predecessor: WorldRank | null, successors: readonly WorldRank[]) {
    this.words = words;
    this.predecessor = predecessor;
    this.missing = new Set(successors);
  }
}

export class PartialCalls {
  readonly #host: PartialHost;
  readonly #open = new Map<string, PartialTurn>();
  /** Of calls that this process has not come to: who waits for it there. */
  readonly #early = new Map<string, { readonly words: PartialWords; readonly waiting: WorldRank[] }>();

  constructor(host: PartialHost) {
    this.#host = host;
  }

  /** The program comes to a call of these processes. */
  enter(context: number, tag: number, members: Group): PartialTurn {
    const { rank, fanOut } = this.#host;
    const ranks = members.worldRanks();
    const words = [context, tag, ...ranks];
    const shape = { size: ranks.length, fanOut };
    const place = ranks.indexOf(rank);
    const predecessor = predecessorOf(place, shape);
    const successors = successorsOf(place, shape).map((each) => ranks[each]!);
    const turn = new PartialTurn(words, predecessor < 0 ? null : ranks[predecessor]!, successors);
    const key = keyOf(words);
    this.#open.set(key, turn);
    for (const source of this.#early.get(key)?.waiting ?? []) this.#came(turn, source);
    this.#early.delete(key);
    this.#decide(turn);
    return turn;
  }

  /** A successor is there, with all below it. */
  heardCome(source: WorldRank, words: PartialWords): void {
    const key = keyOf(words);
    const turn = this.#open.get(key);
    if (turn !== undefined) {
      this.#came(turn, source);
      this.#decide(turn);
      return;
    }
    const early = this.#early.get(key) ?? { words, waiting: [] };
    early.waiting.push(source);
    this.#early.set(key, early);
    this.#answer(key, early);
  }

  /** The predecessor's word: the error, then the call. */
  heardWord([error = 0, ...words]: readonly number[]): void {
    const turn = this.#open.get(keyOf(words));
    if (turn !== undefined) this.#end(turn, error);
  }

  /** A death, of this process too, or a revocation has become known. */
  heardNews(): void {
    for (const turn of [...this.#open.values()]) this.#decide(turn);
    for (const [key, early] of [...this.#early]) this.#answer(key, early);
  }

  #came(turn: PartialTurn, source: WorldRank): void {
    turn.missing.delete(source);
    turn.waiting.push(source);
  }

  #decide(turn: PartialTurn): void {
    if (turn.hasReported) return;
    const error = this.#errorOf(turn.words);
    if (error !== 0) this.#end(turn, error);
    else if (turn.missing.size > 0) return;
    else if (turn.predecessor === null) this.#end(turn, 0);
    else {
      turn.hasReported = true;
      this.#host.say(null, turn.predecessor, Say.COME, turn.words);
    }
  }

  #end(turn: PartialTurn, error: ErrorCode): void {
    this.#open.delete(keyOf(turn.words));
    turn.isOver = true;
    turn.error = error;
    this.#tell(turn.waiting, turn.words, error);
  }

  #answer(key: string, { words, waiting }: { readonly words: PartialWords; readonly waiting: WorldRank[] }): void {
    const error = this.#host.isDead ? ErrorClass.PROC_FAILED : this.#errorOf(words);
    if (error === 0) return;
    this.#early.delete(key);
    this.#tell(waiting, words, error);
  }

  #tell(waiting: readonly WorldRank[], words: PartialWords, error: ErrorCode): void {
    for (const source of waiting) this.#host.say(null, source, Say.GO, [error, ...words]);
  }

  #errorOf(words: PartialWords): ErrorCode {
    if (this.#host.isRevokedContext(words[0]!)) return ErrorClass.REVOKED;
    const hasDead = words.slice(membersAt).some((rank) => this.#host.isKnownDead(rank as WorldRank));
    return hasDead ? ErrorClass.PROC_FAILED : 0;
  }
}
