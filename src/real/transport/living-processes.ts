/**
 * The lives of a node's processes in its shared memory. The node's main thread alone writes their status, and it
 * clears away slots and boards that the dead leave behind. Called by the node's agent:
 *
 *   born      before the thread starts
 *   finished  after its thread has ended by itself
 *   died      after the thread's exit event: it is surely gone
 *   settle    again every few milliseconds until it answers true; `born` for the same process only then
 *
 * Other processes learn of a death from the dispatcher's notice (notices.ts), which comes after `died`.
 */
import { assert } from "../../core/base/assert.ts";
import { Bell, BoardPart, boardOf, Line, lineOf, RankStatus, Ring, ringOf } from "./layout.ts";
import type { NodeMemory } from "./node-memory.ts";

export class LivingProcesses {
  readonly #node: NodeMemory;
  readonly #wakeElsewhere: (process: number) => void;
  /** Slots that dead producers left reserved: the mark of a rare path. */
  voids = 0;
  /** The dead whose last slot is not settled yet. */
  readonly #unsettled = new Set<number>();

  constructor(node: NodeMemory, wakeElsewhere: (process: number) => void = () => {}) {
    this.#node = node;
    this.#wakeElsewhere = wakeElsewhere;
  }

  /** An order to the process: one of `Stop`. */
  stop(process: number, wanted: number): void {
    this.#node.calls.store(lineOf(this.#node.layout, process) + Line.STOP, wanted);
    this.ring(process);
  }

  /** The checkpoints that count, for a process that is about to be asked for another. */
  kept(process: number, { oldest, newest }: { readonly oldest: number; readonly newest: number }): void {
    const line = lineOf(this.#node.layout, process);
    this.#node.calls.store(line + Line.KEPT_OLDEST, oldest);
    this.#node.calls.store(line + Line.KEPT_NEWEST, newest);
  }

  /**
   * A life begins. A new life in the place of an old one takes over its ring: packets up to the present tail were for the
   * old life, and the new one passes over them (it cannot jump: a slow producer may still be filling a slot among them).
   * Notices before this moment are not for it either: it starts with a list of the living. A feeder is born too.
   */
  born(process: number, incarnation: number): void {
    assert(!this.#unsettled.has(process), "a new life begins after the old one's last slot is settled");
    const { calls, layout } = this.#node;
    const line = lineOf(layout, process);
    calls.store(line + Line.BELL, Bell.AWAKE);
    calls.store(line + Line.LIVES, calls.load(line + Line.LIVES) + 1);
    calls.store(line + Line.NOTICES_SEEN, calls.load(layout.noticesAt));
    if (process < layout.processes) {
      const ring = ringOf(layout, process);
      calls.store(ring + Ring.DEAF_UNTIL, calls.load(ring + Ring.TAIL));
    }
    calls.store(line + Line.STATUS, RankStatus.ALIVE | (incarnation << 8));
  }

  /**
   * A rank of another node will be there: others of this node do not have its memory, as if it were a second life. They look before it is born, when they are told of it: it is none
   * that they share with then, or they would wait for it to write into their memories, which it cannot.
   */
  adopted(process: number): void {
    const { calls, layout } = this.#node;
    const line = lineOf(layout, process);
    calls.store(line + Line.LIVES, Math.max(2, calls.load(line + Line.LIVES)));
  }

  /** Packets that the processes have been sent inside the node, in all of their lives (mod 2^32 each). */
  get packets(): number {
    const { calls, layout } = this.#node;
    let sum = 0;
    for (let process = 0; process < layout.processes; process++) {
      sum += calls.load(ringOf(layout, process) + Ring.TAIL) >>> 0;
    }
    return sum;
  }

  finished(process: number): void {
    this.#end(process, RankStatus.FINISHED);
  }

  died(process: number): void {
    this.#unsettled.add(process);
    this.#end(process, RankStatus.DEAD);
    this.settle();
  }

  /** Commits void packets where the dead left a slot reserved. False: a living process has to move first, ask again. */
  settle(): boolean {
    for (const process of this.#unsettled) {
      const found = this.#node.calls.settle(lineOf(this.#node.layout, process));
      if (found === 2) continue;
      this.#unsettled.delete(process);
      if (found !== 1) continue;
      this.voids++;
      this.ringAll();
    }
    return this.#unsettled.size === 0;
  }

  /** Wakes one of them, if it sleeps. */
  ring(process: number): void {
    const { calls, layout } = this.#node;
    if (calls.ring(lineOf(layout, process)) === Bell.PARKED_ELSEWHERE) this.#wakeElsewhere(process);
  }

  /** Wakes all processes that sleep: there are news. Also those whose waker died before it could notify them. */
  ringAll(): void {
    const { calls, layout } = this.#node;
    for (let process = 0; process < layout.producers; process++) {
      if (calls.rouse(lineOf(layout, process)) === Bell.PARKED_ELSEWHERE) this.#wakeElsewhere(process);
    }
  }

  /** Producers that wait for room in this process's ring wake up, see its status and drop their packets for it. */
  #end(process: number, status: RankStatus): void {
    const { calls, layout } = this.#node;
    const address = lineOf(layout, process) + Line.STATUS;
    calls.store(address, status | (calls.load(address) & ~0xff));
    this.#leaveBoards(process);
    this.ringAll();
  }

  /**
   * On every board that names the process, so that boards become free when the others have left. One that died between
   * claiming a board and its first use leaves that board claimed: the pool is one smaller, nothing else.
   */
  #leaveBoards(process: number): void {
    const { calls, layout } = this.#node;
    for (let index = 0; index < layout.boardCount; index++) {
      const board = boardOf(layout, index);
      for (let member = 0; member < layout.boardMembers; member++) {
        if (calls.load(board + BoardPart.MEMBERS + member * 4) === process + 1) calls.boardLeave(board, member);
      }
    }
  }
}
