/**
 * The ends of communicators, and of the process (thesis §5.3.7, §5.3.10).
 *
 * All members come to the end of a communicator, the dead without being asked. With the verdict each of them hears which non-blocking collectives some member has
 * started and it has not, takes part in them with buffers of its own, and waits until the base is done with all. Only then the
 * base's communicator is freed. The program does not wait for any of this.
 *
 * At the end of a process all its communicators end, its world last; then the base ends all processes together, the dead among them.
 */
import type { RecordId } from "../base/brand.ts";
import type { Operations } from "../binding/operations.ts";
import type { Communicator } from "../process/communicator.ts";
import { Task } from "../process/task.ts";
import type { Member, Turn } from "./member.ts";
import { callsOfWords } from "./recent-collectives.ts";
import type { SyncVerdict } from "./report.ts";
import type { StartedCollectives } from "./started-collectives.ts";

export class CommunicatorEnd extends Task {
  readonly #member: Member;
  readonly #collectives: StartedCollectives;
  readonly #free: (member: Member) => void;
  /** Null: of a dead member, which has the verdict. */
  readonly #turn: Turn | null;
  #verdict: SyncVerdict | null;
  #hasBegun = false;

  /** `free` is called once, when the base is done with the communicator. */
  constructor(
    member: Member,
    collectives: StartedCollectives,
    from: Turn | SyncVerdict,
    free: (member: Member) => void,
  ) {
    super();
    this.#member = member;
    this.#collectives = collectives;
    this.#free = free;
    this.#turn = "purpose" in from ? from : null;
    this.#verdict = "purpose" in from ? null : from;
  }

  override advance(): boolean {
    if (!this.#hasBegun && !this.#begin()) return false;
    if (!this.#collectives.finishAll(this.#member) || !this.#member.isSilent) return false;
    this.#free(this.#member);
    return true;
  }

  #begin(): boolean {
    if (this.#turn?.isOver === false) return false;
    this.#hasBegun = true;
    this.#verdict ??= this.#turn?.verdict ?? null;
    // Members that have disagreed free it alone.
    if (this.#verdict === null || this.#turn?.error) return true;
    const { recent } = this.#member;
    const { extra, collectivesMin } = this.#verdict;
    for (const call of callsOfWords(extra).slice(recent.count - collectivesMin)) {
      this.#collectives.takePart(this.#member, call);
    }
    return true;
  }
}

/** The layer, as the end of its process needs it. */
export interface EndingLayer {
  readonly base: Operations;
  readonly world: Communicator;
  /** Communicators of the program that are neither its world nor the process alone, and whose end has not begun. */
  readonly open: readonly Communicator[];
  /** Communicators whose ends are under way. */
  readonly endings: number;
  begin(comm: Communicator): void;
}

/** What a process does last: MPI_Finalize. */
export class ProcessEnd extends Task {
  readonly #layer: EndingLayer;
  #hasBegunWorld = false;
  #barrier = -1 as RecordId;

  constructor(layer: EndingLayer) {
    super();
    this.#layer = layer;
    for (const comm of layer.open) layer.begin(comm);
  }

  override advance(): boolean {
    const layer = this.#layer;
    if (layer.endings > 0) return false;
    if (!this.#hasBegunWorld) {
      this.#hasBegunWorld = true;
      layer.begin(layer.world);
      if (layer.endings > 0) return false;
    }
    if (this.#barrier < 0) this.#barrier = layer.base.startFinalBarrier();
    return layer.base.isComplete(this.#barrier);
  }
}
