/** Carries out a fault plan on the processes of a job: the host of `core/fault`. */

import { countText, secondsText } from "../../../core/base/amounts.ts";
import { unreachable } from "../../../core/base/assert.ts";
import type { FaultAction, Link } from "../../../core/fault/action.ts";
import type { FaultEvent, FaultLayout } from "../../../core/fault/moment.ts";
import type { FaultPlan, Service } from "../../../core/fault/plan.ts";
import { FaultSchedule, type Living } from "../../../core/fault/schedule.ts";
import type { FaultsFired } from "../../../core/service/job-record.ts";

interface FaultScheduleHostOptions {
  readonly plan: FaultPlan;
  readonly seed: number;
  readonly layout: FaultLayout;
  readonly living: Living;
  /** Of a job that goes on: what had fired. Nothing unless given. */
  readonly earlier?: FaultsFired | null;
}

interface FaultScheduleHostPorts {
  /** Entries have fired, and what they say is about to happen: to be written down before this returns. */
  fired?(record: FaultsFired): void;
  /** False: there is no such node at the moment. */
  killNode(node: number): boolean;
  /** Their threads end; the node lives on. */
  killRanks(ranks: readonly number[]): void;
  stopNode(node: number): boolean;
  continueNode(node: number): boolean;
  /** No packet crosses it until it is restored. */
  cutLink(link: Link): void;
  /** Everything on it takes so much longer until it is restored. */
  delayLink(link: Link, byMs: number): void;
  restoreLink(link: Link): void;
  flipBits(rank: number, bits: number, seed: number): void;
  /** False: it is no process of its own. */
  killService(service: Service): boolean;
  /** A rank that stands still in a call shall go on; `call` is the next of its calls that matters, 0: none. */
  goOn(rank: number, call: number): void;
  /** As people call that process. */
  nameOf(rank: number): string;
  note(message: string): void;
}

/** A timer cannot be set further ahead. */
const timerMsMax = 2 ** 31 - 1;

export class FaultScheduleHost {
  readonly #schedule: FaultSchedule;
  readonly #ports: FaultScheduleHostPorts;
  #beganMs = 0;
  /** The plan's time when it begins: it goes on where the last entry fired. */
  readonly #startMs: number;
  #hasBegun = false;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FaultScheduleHostOptions, ports: FaultScheduleHostPorts) {
    const { plan, seed, layout, living, earlier = null } = options;
    // A node that stood still, or a link that was cut, is no more.
    const state = earlier === null ? undefined : { ...earlier, ends: [], finished: [] };
    this.#schedule = new FaultSchedule(plan, { seed, layout, living, state });
    this.#startMs = earlier?.atMs ?? 0;
    this.#ports = ports;
  }

  /** The moments that a rank has to report in the life that it is about to begin. */
  watchOf(rank: number): { readonly rank: number; readonly call: number; readonly init: boolean } {
    return { rank, call: this.#schedule.callsOf(rank) ?? 0, init: this.#schedule.initMattersOf(rank) };
  }

  /** All ranks have begun: the plan's time runs. */
  begin(): void {
    this.#beganMs = performance.now() - this.#startMs;
    this.#hasBegun = true;
    this.#perform(this.#schedule.time(this.#startMs));
  }

  /** The rank stands still in that call, the n-th of its present life. */
  call(rank: number, count: number): void {
    this.#answer(rank, this.#schedule.call(rank, count, this.#nowMs()));
  }

  /** The rank stands still inside MPI_Init. */
  init(rank: number): void {
    this.#answer(rank, this.#schedule.event({ kind: "init", rank }, this.#nowMs()));
  }

  happened(event: FaultEvent): void {
    this.#perform(this.#schedule.event(event, this.#nowMs()));
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#isOver = true;
  }

  #answer(rank: number, actions: readonly FaultAction[]): void {
    this.#perform(actions);
    const isKilled = actions.some((action) => action.kind === "kill-ranks" && action.ranks.includes(rank));
    if (!isKilled) this.#ports.goOn(rank, this.#schedule.callsOf(rank) ?? 0);
  }

  #nowMs(): number {
    return this.#hasBegun ? performance.now() - this.#beganMs : this.#startMs;
  }

  #perform(actions: readonly FaultAction[]): void {
    if (this.#isOver) return;
    if (actions.length > 0) {
      const { fired, recoveries } = this.#schedule.state;
      this.#ports.fired?.({ kind: "faults-fired", fired, recoveries, atMs: this.#nowMs() });
    }
    for (const action of actions) this.#do(action);
    clearTimeout(this.#timer);
    if (!this.#hasBegun || this.#schedule.nextTimeMs === Number.POSITIVE_INFINITY) return;
    const inMs = Math.min(timerMsMax, Math.max(0, this.#schedule.nextTimeMs - this.#nowMs()));
    this.#timer = setTimeout(() => this.#perform(this.#schedule.time(this.#nowMs())), inMs);
    this.#timer.unref();
  }

  #do(action: FaultAction): void {
    const ports = this.#ports;
    switch (action.kind) {
      case "kill-node":
        this.#say(`killed node ${action.node}`, ports.killNode(action.node));
        break;
      case "kill-ranks":
        this.#say(`killed ${listOf(action.ranks)}`);
        ports.killRanks(action.ranks);
        break;
      case "stop-node":
        this.#say(`stopped node ${action.node}`, ports.stopNode(action.node));
        break;
      case "continue-node":
        this.#say(`continued node ${action.node}`, ports.continueNode(action.node));
        break;
      case "cut-link":
        this.#say(`cut link ${action.link.join("-")}`);
        ports.cutLink(action.link);
        break;
      case "restore-link":
        this.#say(`restored link ${action.link.join("-")}`);
        ports.restoreLink(action.link);
        break;
      case "delay-link":
        this.#say(`delayed link ${action.link.join("-")} by ${action.byMs} ms`);
        ports.delayLink(action.link, action.byMs);
        break;
      case "flip-bits":
        this.#say(`flipped ${countText(action.bits, "bit")} in the memory of ${ports.nameOf(action.rank)}`);
        ports.flipBits(action.rank, action.bits, action.seed);
        break;
      case "kill-service":
        if (ports.killService(action.service)) this.#say(`killed the ${action.service}`);
        else
          ports.note(
            `the fault plan's entry ${action.entry} was left out: the ${action.service} is part of this process`,
          );
        break;
      default:
        unreachable(action);
    }
  }

  #say(what: string, isDone = true): void {
    const note = isDone ? what : `would have ${what}, which is gone`;
    // The plan's time, which is not that of other messages: those count from the start of the job.
    this.#ports.note(`fault plan: ${note}, ${secondsText(this.#nowMs())} after the ranks began`);
  }
}

const listOf = (ranks: readonly number[]): string => `${ranks.length === 1 ? "rank" : "ranks"} ${ranks.join(", ")}`;
