/**
 * Ranks go to another node in a job whose lost ranks begin again (`banyan move`, ADR 73). Checkpoints of all that will begin again are taken first; when they are stored the ranks fall, their
 * places change, and they begin there from the checkpoints. All other nodes go on.
 *
 *   order ─▶ checkpoints of both nodes ─▶ stored ─▶ places change, both processes end ─▶ two others: images, replay
 *
 * If one of these ranks is lost before, nothing is moved. Afterwards the new place is as any other: whoever dies there begins again there.
 */
import type { Dispatcher } from "../../../core/service/dispatcher.ts";
import type { SetMove } from "../../../core/service/moved-sets.ts";
import type { JobNodes } from "../nodes/job-nodes.ts";
import type { JobReport } from "../report/job-report.ts";

interface SetMovesParts {
  readonly core: Pick<Dispatcher, "outcome" | "moveRanks" | "leftByMoved" | "isNodeAlive" | "state">;
  readonly nodes: Pick<JobNodes, "processOf" | "pids">;
  readonly report: Pick<JobReport, "note" | "movedAlone" | "names">;
  /** Fulfilled when new checkpoints of these sets count; false: they will not. */
  saved(sets: readonly number[]): Promise<boolean>;
  /** The sets that have ranks on that node. */
  setsOn(node: number): readonly number[];
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
    void this.#parts.saved(sets).then((isSaved) => {
      if (this.#underWay !== underWay) return;
      if (isSaved && core.outcome === undefined) this.#move(underWay);
      else this.#underWay = null;
    });
  }

  #move(move: UnderWay): void {
    const { core, nodes } = this.#parts;
    const { ranks, from, node } = move;
    const ending = [from, node]
      .filter((each) => each < core.state.nodes.length && core.isNodeAlive(each))
      .map((each) => nodes.processOf(each));
    const nowMs = performance.now();
    move.stoppedMs = nowMs;
    this.isMoving = true;
    core.moveRanks(ranks, node, nowMs);
    core.leftByMoved(from, nowMs);
    this.isMoving = false;
    for (const process of ending) process.cut("its ranks were moved");
  }

  /** Those of these sets are lost. */
  fallen(sets: ReadonlySet<number>): void {
    const move = this.#underWay;
    if (move === null || move.stoppedMs !== null || !move.sets.some((set) => sets.has(set))) return;
    this.#underWay = null;
    const { report } = this.#parts;
    const who = report.names.listed(move.ranks);
    report.note(
      `${who} ${move.ranks.length === 1 ? "stays" : "stay"} on node ${move.from}: lost ranks come back first`,
    );
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
