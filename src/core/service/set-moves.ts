/**
 * Ranks go to another node in a job whose lost ranks begin again (`banyan move`, ADR 73). Checkpoints of all that will begin again are taken first; when they are stored the ranks fall, their
 * places change, and they begin there from the checkpoints. All other nodes go on.
 *
 *   order ─▶ checkpoints of both nodes ─▶ stored ─▶ places change, both processes end ─▶ two others: images, replay
 *
 * A rank that leaves the others of its set becomes a set of its own. They stand still from the last of these checkpoints on, so that nothing comes after it that both would have to know.
 *
 * If one of these ranks is lost before, nothing is moved. Afterwards the new place is as any other: whoever dies there begins again there.
 *
 * Pure. The host takes the checkpoints, has the images, and ends the processes.
 */
import type { SentInSet, SetSplit } from "../ft/set-split.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { SetMove } from "./moved-sets.ts";
import type { Recovery } from "./recovery.ts";

/** Ranks that have begun in their new place. */
export interface MadeMove {
  readonly ranks: readonly number[];
  readonly node: number;
  /** The node that has no ranks since; null: it has some. */
  readonly emptied: number | null;
  readonly stoodMs: number;
}

export interface SetMovesParts {
  readonly core: Pick<Dispatcher, "outcome" | "moveRanks" | "restartMoved" | "leftByMoved" | "isNodeAlive" | "state">;
  readonly recovery: Pick<Recovery, "split" | "letGo" | "standsStill" | "newest" | "oldest" | "sets" | "membersOf">;
  /**
   * New checkpoints of these sets are taken. Answered when they count, not from inside of a call of recovery; false: they will not. `isHeld`: their
   * ranks stand still from then on.
   */
  saved(sets: readonly number[], isHeld: boolean, answer: (isSaved: boolean) => void): void;
  /** The sets that have ranks on that node. */
  setsOn(node: number): readonly number[];
  /** What a rank had sent to the others of its set at that checkpoint; null: nobody knows. */
  sentBy(rank: number, checkpoint: number): readonly SentInSet[] | null;
  /** The image of a rank is one of another set, too. Returns the obstacle; empty: there is none. */
  shareImages(split: SetSplit): string;
  /** Images of that set's checkpoint are of no use any more. */
  dropImages(set: number, checkpoint: number): void;
  /** The process that a node has now shall end when the function that is returned is called. */
  endOf(node: number): () => void;
  nowMs(): number;
  moved(move: MadeMove): void;
  note(message: string): void;
  /** Ranks, as the user calls them. */
  listed(ranks: readonly number[]): string;
}

interface UnderWay extends SetMove {
  /** Those that begin again. */
  readonly sets: readonly number[];
  /** Since when the moved do not run; null: they run. */
  stoppedMs: number | null;
  /** Moved ranks that have not begun in their new place. */
  readonly missing: Set<number>;
}

export class SetMoves {
  readonly #parts: SetMovesParts;
  #underWay: UnderWay | null = null;
  /** Falls that happen now are meant. */
  isMoving = false;
  /** How often ranks were moved. */
  count = 0;

  constructor(parts: SetMovesParts) {
    this.#parts = parts;
  }

  get isUnderWay(): boolean {
    return this.#underWay !== null;
  }

  /** There must be none under way. */
  begin(move: SetMove): void {
    const { core, setsOn, note, listed } = this.#parts;
    const { ranks, from, node } = move;
    const isNew = node >= core.state.nodes.length || !core.isNodeAlive(node);
    const sets = [...new Set([...setsOn(from), ...setsOn(node)])];
    const underWay: UnderWay = { ...move, sets, stoppedMs: null, missing: new Set(ranks) };
    this.#underWay = underWay;
    const where = `node ${node}${isNew ? ", which is started" : ""}`;
    note(`${listed(ranks)} will go on on ${where}: from the next checkpoint`);
    const others = sets.filter((set) => set !== move.split);
    this.#save(underWay, others, false, () => this.#saveDivided(underWay));
  }

  /** The set that is divided comes last: it stands still no longer than it must. */
  #saveDivided(move: UnderWay): void {
    const { split } = move;
    this.#save(move, split === null ? [] : [split], true, () => this.#move(move));
  }

  #save(move: UnderWay, sets: readonly number[], isHeld: boolean, then: () => void): void {
    const { core, saved } = this.#parts;
    if (sets.length === 0) {
      then();
      return;
    }
    saved(sets, isHeld, (isSaved) => {
      if (!isSaved || this.#underWay !== move || core.outcome !== undefined) this.#forget(move);
      else then();
    });
  }

  #forget(move: UnderWay): void {
    if (this.#underWay === move) this.#underWay = null;
  }

  #move(move: UnderWay): void {
    const { core, endOf, shareImages, nowMs } = this.#parts;
    const { ranks, from, node } = move;
    const split = this.#splitOf(move);
    if (move.split !== null && split === null) {
      this.#giveUp(move, "those beside it did not stand still");
      return;
    }
    const obstacle = split === null ? "" : shareImages(split);
    if (obstacle !== "") {
      this.#giveUp(move, `its image cannot be had: ${obstacle}`);
      return;
    }
    const ends = [...new Set([from, node])]
      .filter((each) => each < core.state.nodes.length && core.isNodeAlive(each))
      .map((each) => endOf(each));
    const stoppedMs = nowMs();
    move.stoppedMs = stoppedMs;
    this.isMoving = true;
    core.moveRanks(ranks, node, split);
    if (split !== null) this.#split(split);
    core.restartMoved(node, stoppedMs);
    if (from !== node) core.leftByMoved(from, stoppedMs);
    this.isMoving = false;
    for (const end of ends) end();
  }

  #split(split: SetSplit): void {
    const { recovery, dropImages } = this.#parts;
    const older = recovery.oldest(split.set).number;
    recovery.split(split);
    // It was of all of them together.
    if (older !== 0 && older !== split.checkpoint.number) dropImages(split.set, older);
  }

  /** Null: no set is divided, or it cannot be now. */
  #splitOf({ split: set, ranks }: UnderWay): SetSplit | null {
    const { recovery, sentBy } = this.#parts;
    const [rank] = ranks;
    if (set === null || rank === undefined || !recovery.standsStill(set)) return null;
    const checkpoint = recovery.newest(set);
    const sent: SentInSet[] = [];
    for (const member of recovery.membersOf(set)) {
      const its = sentBy(member, checkpoint.number);
      if (its === null) return null;
      sent.push(...its.filter(({ from, to }) => from === rank || to === rank));
    }
    return { set, as: recovery.sets, rank, checkpoint, sent };
  }

  #giveUp(move: UnderWay, why: string): void {
    const { recovery, note, listed } = this.#parts;
    this.#forget(move);
    if (move.split !== null) recovery.letGo(move.split);
    note(`${listed(move.ranks)} ${move.ranks.length === 1 ? "stays" : "stay"} on node ${move.from}: ${why}; try again`);
  }

  /** Those of these sets are lost. */
  fallen(sets: ReadonlySet<number>): void {
    const move = this.#underWay;
    if (move === null || move.stoppedMs !== null || !move.sets.some((set) => sets.has(set))) return;
    this.#giveUp(move, "a rank that was to be captured was lost");
  }

  /** A rank has begun its present life. */
  began(rank: number): void {
    const move = this.#underWay;
    if (move === null || move.stoppedMs === null) return;
    move.missing.delete(rank);
    if (move.missing.size > 0) return;
    this.#underWay = null;
    this.count++;
    const { core, nowMs, moved } = this.#parts;
    const { ranks, node, from } = move;
    const emptied = core.isNodeAlive(from) ? null : from;
    moved({ ranks, node, emptied, stoodMs: nowMs() - move.stoppedMs });
  }
}
