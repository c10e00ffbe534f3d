/** Carries out a fault plan on the processes of a job: the host of `core/fault`. */
import { unreachable } from "../../core/base/assert.ts";
import type { FaultAction, Link } from "../../core/fault/action.ts";
import type { FaultEvent, FaultLayout } from "../../core/fault/moment.ts";
import type { FaultPlan } from "../../core/fault/plan.ts";
import { FaultSchedule, type Living } from "../../core/fault/schedule.ts";

export interface FaultsOptions {
  readonly plan: FaultPlan;
  readonly seed: number;
  readonly layout: FaultLayout;
  readonly living: Living;
}

export interface FaultsPorts {
  killNode(node: number): void;
  killRanks(ranks: readonly number[]): void;
  stopNode(node: number): void;
  continueNode(node: number): void;
  /** No packet crosses it until it is restored. */
  cutLink(link: Link): void;
  restoreLink(link: Link): void;
  /** That many calls of the rank from now on matter again; null: none. */
  watchCalls(rank: number, count: number | null): void;
  note(message: string): void;
}

/** A timer cannot be set further ahead. */
const timerMsMax = 2 ** 31 - 1;

export class Faults {
  readonly #schedule: FaultSchedule;
  readonly #ports: FaultsPorts;
  readonly #ranks: number;
  #beganMs = 0;
  #hasBegun = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({ plan, seed, layout, living }: FaultsOptions, ports: FaultsPorts) {
    this.#schedule = new FaultSchedule(plan, { seed, layout, living });
    this.#ports = ports;
    this.#ranks = layout.nodeOf.length;
  }

  /** Which call of that rank matters next; 0: none. For its setup. */
  callOf(rank: number): number {
    return this.#schedule.callsOf(rank) ?? 0;
  }

  /** All ranks have begun: the plan's time runs. */
  begin(): void {
    this.#beganMs = performance.now();
    this.#hasBegun = true;
    this.#perform(this.#schedule.time(0));
  }

  /** True when something was done about it. */
  call(rank: number, count: number): boolean {
    const actions = this.#schedule.call(rank, count, this.#nowMs());
    this.#perform(actions);
    this.#ports.watchCalls(rank, this.#schedule.callsOf(rank));
    return actions.length > 0;
  }

  happened(event: FaultEvent): void {
    this.#perform(this.#schedule.event(event, this.#nowMs()));
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#hasBegun = false;
  }

  #nowMs(): number {
    return this.#hasBegun ? performance.now() - this.#beganMs : 0;
  }

  #perform(actions: readonly FaultAction[]): void {
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
        ports.killNode(action.node);
        break;
      case "kill-ranks":
        ports.killRanks(action.ranks);
        break;
      case "stop-node":
        ports.stopNode(action.node);
        break;
      case "continue-node":
        ports.continueNode(action.node);
        break;
      case "cut-link":
        ports.cutLink(action.link);
        break;
      case "restore-link":
        ports.restoreLink(action.link);
        break;
      case "delay-link":
        ports.note(`the fault plan's entry ${action.entry} was left out: links are delayed in the simulator only`);
        break;
      case "kill-service":
        ports.note(
          `the fault plan's entry ${action.entry} was left out: the ${action.service} is part of this process`,
        );
        break;
      default:
        unreachable(action);
    }
  }

  /** Ranks whose calls matter at the start. */
  get watchedRanks(): number[] {
    return Array.from({ length: this.#ranks }, (_, rank) => rank).filter((rank) => this.callOf(rank) > 0);
  }
}
