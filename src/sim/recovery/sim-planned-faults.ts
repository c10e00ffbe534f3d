/**
 * Carries out a fault plan in a simulated world: the host of core/fault, as real/job/recovery/fault-schedule-host.ts is for processes.
 *
 * A call is an action of a rank's script, MPI_Init the moment before the first. The rank that reports holds still until the fault is
 * done, and what it has killed is declared dead before a checkpoint is committed. Nothing happens to a job that is over.
 */
import { unreachable } from "../../core/base/assert.ts";
import type { FaultAction } from "../../core/fault/action.ts";
import type { FaultPlan } from "../../core/fault/plan.ts";
import { FaultSchedule } from "../../core/fault/schedule.ts";
import type { World } from "../world.ts";
import type { CheckpointProgress } from "./checkpoints.ts";
import type { Trouble, TroublePorts } from "./trouble.ts";

const nsPerMs = 1e6;

export class SimPlannedFaults implements Trouble {
  happened = 0;
  readonly #world: World;
  readonly #ports: TroublePorts;
  readonly #schedule: FaultSchedule;
  /** Actions of each rank in its present life. */
  readonly #calls: number[];
  #plannedNs = Number.POSITIVE_INFINITY;

  constructor(
    plan: FaultPlan,
    { seed, world, setOf }: { readonly seed: number; readonly world: World; readonly setOf: readonly number[] },
    ports: TroublePorts,
  ) {
    this.#world = world;
    this.#ports = ports;
    this.#calls = world.processes.map(() => 0);
    this.#schedule = new FaultSchedule(plan, {
      seed,
      layout: { nodes: world.nodes, placement: world.placement, setOf: [...setOf] },
      living: ports,
    });
  }

  get fired(): readonly number[] {
    return this.#schedule.state.fired;
  }

  get #nowMs(): number {
    return this.#world.nowNs / nsPerMs;
  }

  begin(): void {
    this.#perform(this.#schedule.time(0));
  }

  /** Calls are counted from the beginning of a life, or from its image. */
  lives(rank: number): void {
    this.#calls[rank] = 0;
  }

  passes(rank: number, action: number): boolean {
    const schedule = this.#schedule;
    const isFirst = action === 0;
    this.#calls[rank]!++;
    const actions = schedule.call(rank, this.#calls[rank]!, this.#nowMs);
    if (isFirst) actions.push(...schedule.event({ kind: "init", rank }, this.#nowMs));
    this.#performSoon(actions);
    return actions.length > 0;
  }

  finished(rank: number): void {
    this.#performSoon(this.#schedule.event({ kind: "finished", rank }, this.#nowMs));
  }

  checkpoint({ step, ...event }: CheckpointProgress): void {
    const kinds = { asked: "checkpoint-asked", image: "image-stored", committed: "checkpoint-committed" } as const;
    if (step === "stopped" || step === "captured" || step === "stored") return;
    const actions = this.#schedule.event({ kind: kinds[step], ...event }, this.#nowMs);
    // A rank that asks may be in the middle of its program; a server that stores is not.
    if (step === "asked") {
      this.#performSoon(actions);
      return;
    }
    this.#perform(actions);
    if (actions.length > 0) this.#ports.notice();
  }

  restarted(set: number): void {
    this.#perform(this.#schedule.event({ kind: "recovery", set }, this.#nowMs));
  }

  logFull(set: number): void {
    this.#performSoon(this.#schedule.event({ kind: "log-full", set }, this.#nowMs));
  }

  /** A program runs at this moment, and cannot end in the middle of a step. */
  #performSoon(actions: readonly FaultAction[]): void {
    if (actions.length > 0) this.#world.plan(this.#world.nowNs, () => this.#perform(actions));
  }

  #perform(actions: readonly FaultAction[]): void {
    for (const action of actions) this.#do(action);
    this.happened += actions.length;
    const timeNs = Math.ceil(this.#schedule.nextTimeMs * nsPerMs);
    if (timeNs >= this.#plannedNs || !Number.isFinite(timeNs)) return;
    this.#plannedNs = timeNs;
    this.#world.plan(Math.max(timeNs, this.#world.nowNs), () => {
      this.#plannedNs = Number.POSITIVE_INFINITY;
      if (!this.#ports.isOver()) this.#perform(this.#schedule.time(this.#nowMs));
    });
  }

  #do(action: FaultAction): void {
    const world = this.#world;
    const ports = this.#ports;
    switch (action.kind) {
      case "kill-ranks":
        ports.killRanks(action.ranks);
        return;
      case "kill-node":
        ports.killNode(action.node);
        return;
      case "kill-service":
        ports.lose(action.service);
        return;
      case "stop-node":
        ports.stopNode(action.node);
        return;
      case "continue-node":
        ports.continueNode(action.node);
        return;
      case "cut-link":
        world.cutLink(...action.link);
        return;
      case "delay-link":
        world.delayLink(...action.link, Math.ceil(action.byMs * nsPerMs));
        return;
      case "restore-link":
        world.restoreLink(...action.link);
        return;
      case "flip-bits":
        // Memory of random programs is checked byte by byte: a flip would be found wrong, rightly. See run-comparing-seed.ts.
        return;
      default:
        unreachable(action);
    }
  }
}
