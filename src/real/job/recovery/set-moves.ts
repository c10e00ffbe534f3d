/**
 * Ranks go to another node in a job whose lost ranks begin again (`banyan move`, ADR 73). Checkpoints of all that will begin again are taken first; when they are stored the ranks fall, their
 * places change, and they begin there from the checkpoints. All other nodes go on.
 *
 *   order ─▶ checkpoints of both nodes ─▶ stored ─▶ places change, both processes end ─▶ two others: images, replay
 *
 * A rank that leaves the others of its set becomes a set of its own. They stand still from the last of these checkpoints on, so that nothing comes after it that both would have to know.
 *
 * If one of these ranks is lost before, nothing is moved. Afterwards the new place is as any other: whoever dies there begins again there.
 */
import { describeSystemError } from "../../../core/base/system-error.ts";
import type { SentInSet, SetSplit } from "../../../core/ft/set-split.ts";
import type { Dispatcher } from "../../../core/service/dispatcher.ts";
import type { SetMove } from "../../../core/service/moved-sets.ts";
import type { Recovery } from "../../../core/service/recovery.ts";
import type { JobNodes } from "../nodes/job-nodes.ts";
import type { JobReport } from "../report/job-report.ts";

interface SetMovesParts {
  readonly core: Pick<Dispatcher, "outcome" | "moveRanks" | "restartMoved" | "leftByMoved" | "isNodeAlive" | "state">;
  readonly nodes: Pick<JobNodes, "processOf" | "pids">;
  readonly report: Pick<JobReport, "note" | "movedAlone" | "names">;
  readonly recovery: Pick<Recovery, "split" | "letGo" | "standsStill" | "newest" | "oldest" | "sets" | "membersOf">;
  /** Fulfilled when new checkpoints of these sets count; false: they will not. `isHeld`: their ranks stand still from then on. */
  saved(sets: readonly number[], isHeld: boolean): Promise<boolean>;
  /** The sets that have ranks on that node. */
  setsOn(node: number): readonly number[];
  /** What a rank had sent to the others of its set at that checkpoint; null: nobody knows. */
  sentBy(rank: number, checkpoint: number): readonly SentInSet[] | null;
  /** The image of a rank is one of another set, too. Throws the system's errors. */
  shareImages(split: SetSplit): void;
  /** Images of that set's checkpoint are of no use any more. */
  dropImages(set: number, checkpoint: number): void;
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
    const { report, core, setsOn } = this.#parts;
    const { ranks, from, node } = move;
    const isNew = node >= core.state.nodes.length || !core.isNodeAlive(node);
    const sets = [...new Set([...setsOn(from), ...setsOn(node)])];
    const underWay: UnderWay = { ...move, sets, stoppedMs: null, missing: new Set(ranks) };
    this.#underWay = underWay;
    const where = `node ${node}${isNew ? ", which is started" : ""}`;
    report.note(`${report.names.listed(ranks)} will go on on ${where}: from the next checkpoint`);
    void this.#saveAndMove(underWay);
  }

  async #saveAndMove(move: UnderWay): Promise<void> {
    const { core, saved } = this.#parts;
    const { split, sets } = move;
    const others = sets.filter((set) => set !== split);
    const isOver = (isSaved: boolean): boolean => !isSaved || this.#underWay !== move || core.outcome !== undefined;
    if (others.length > 0 && isOver(await saved(others, false))) return this.#forget(move);
    if (split !== null && isOver(await saved([split], true))) return this.#forget(move);
    this.#move(move);
  }

  #forget(move: UnderWay): void {
    if (this.#underWay === move) this.#underWay = null;
  }

  #move(move: UnderWay): void {
    const { core, nodes, shareImages } = this.#parts;
    const { ranks, from, node } = move;
    const split = this.#splitOf(move);
    if (move.split !== null && split === null) {
      this.#giveUp(move, "those beside it did not stand still");
      return;
    }
    try {
      if (split !== null) shareImages(split);
    } catch (error) {
      this.#giveUp(move, `its image cannot be had: ${describeSystemError(error)}`);
      return;
    }
    const ending = [from, node]
      .filter((each) => each < core.state.nodes.length && core.isNodeAlive(each))
      .map((each) => nodes.processOf(each));
    const nowMs = performance.now();
    move.stoppedMs = nowMs;
    this.isMoving = true;
    core.moveRanks(ranks, node, split);
    if (split !== null) this.#split(split);
    core.restartMoved(node, nowMs);
    core.leftByMoved(from, nowMs);
    this.isMoving = false;
    for (const process of ending) process.cut("its ranks were moved");
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
    const { report, recovery } = this.#parts;
    this.#forget(move);
    if (move.split !== null) recovery.letGo(move.split);
    const who = report.names.listed(move.ranks);
    report.note(`${who} ${move.ranks.length === 1 ? "stays" : "stay"} on node ${move.from}: ${why}; try again`);
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
    const { report, nodes, core } = this.#parts;
    const { ranks, node, from } = move;
    const stoodMs = performance.now() - move.stoppedMs;
    const emptied = core.isNodeAlive(from) ? null : from;
    report.movedAlone({ ranks, node, emptied, stoodMs, pids: nodes.pids });
  }
}
