/**
 * Carries out a fault plan in a simulated world: the host of core/fault, as real/service/faults.ts is for processes.
 *
 * A call is an action of a rank's script, MPI_Init the moment before the first. Whoever reports holds still until the deed is
 * done, and what it has killed is declared dead before a checkpoint is committed. A job whose ranks have all finished is over:
 * nothing happens to it any more.
 */
import { unreachable } from "../../core/base/assert.ts";
import type { FaultAction } from "../../core/fault/action.ts";
import type { FaultPlan, Service } from "../../core/fault/plan.ts";
import { FaultSchedule } from "../../core/fault/schedule.ts";
import type { World } from "../world.ts";
import type { CheckpointEvent } from "./checkpoints.ts";
import type { Trouble } from "./trouble.ts";

/** A node that stands still for longer is taken for dead, and killed. */
const patienceNs = 1_000_000_000;
const nsPerMs = 1e6;

export interface PlannedFaultsPorts {
  /** The connections to that service are lost, and what was on its way. */
  lose(service: Service): void;
  /** Who has been killed is declared dead now. */
  notice(): void;
}

export class PlannedFaults implements Trouble {
  happened = 0;
  readonly #world: World;
  readonly #ports: PlannedFaultsPorts;
  readonly #schedule: FaultSchedule;
  /** Actions of each rank in its present life. */
  readonly #calls: number[];
  #plannedNs = Number.POSITIVE_INFINITY;

  constructor(
    plan: FaultPlan,
    { seed, world, setOf }: { readonly seed: number; readonly world: World; readonly setOf: Int32Array },
    ports: PlannedFaultsPorts,
  ) {
    this.#world = world;
    this.#ports = ports;
    this.#calls = world.processes.map(() => 0);
    const isRankAlive = (rank: number): boolean => world.processes[rank]!.state !== "dead";
    this.#schedule = new FaultSchedule(plan, {
      seed,
      layout: { nodes: world.nodes, nodeOf: [...world.nodeOf], setOf: [...setOf] },
      living: { isRankAlive, isNodeAlive: (node) => this.#ranksOf(node).some(isRankAlive) },
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

  checkpoint({ step, ...event }: CheckpointEvent): void {
    const kinds = { asked: "checkpoint-asked", image: "image-stored", committed: "checkpoint-committed" } as const;
    if (step === "stopped" || step === "captured" || step === "stored") return;
    const actions = this.#schedule.event({ kind: kinds[step], ...event }, this.#nowMs);
    // Who asks may be in the middle of its program; who stores is not.
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
      const isOver = this.#world.processes.every(({ state }) => state === "finished");
      if (!isOver) this.#perform(this.#schedule.time(this.#nowMs));
    });
  }

  #do(action: FaultAction): void {
    const world = this.#world;
    switch (action.kind) {
      case "kill-ranks":
        for (const rank of action.ranks) world.crash(rank);
        return;
      case "kill-node":
        this.#killNode(action.node);
        return;
      case "kill-service":
        this.#ports.lose(action.service);
        return;
      case "stop-node":
        this.#stopNode(action.node);
        return;
      case "continue-node":
        world.continueNode(action.node);
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
      default:
        unreachable(action);
    }
  }

  #killNode(node: number): void {
    for (const rank of this.#ranksOf(node)) this.#world.crash(rank);
    // The one that takes its place runs.
    if (this.#world.isStopped(node)) this.#world.continueNode(node);
  }

  #stopNode(node: number): void {
    const world = this.#world;
    const standing = this.#ranksOf(node).map((rank) => world.processes[rank]!);
    world.stopNode(node);
    world.plan(world.nowNs + patienceNs, () => {
      const isSame = standing.some((process) => world.processes[process.rank] === process);
      if (world.isStopped(node) && isSame) this.#killNode(node);
    });
  }

  #ranksOf(node: number): number[] {
    return [...this.#world.nodeOf.keys()].filter((rank) => this.#world.nodeOf[rank] === node);
  }
}

/** What of a plan has no meaning in a simulated world, in one line; undefined: nothing. */
export function simRefusal({ entries }: FaultPlan): string | undefined {
  const index = entries.findIndex((entry) => {
    if (entry.kind !== "fault" || entry.fault.kind !== "kill") return false;
    const { victim } = entry.fault;
    return victim.kind === "service" && victim.service === "dispatcher";
  });
  if (index < 0) return undefined;
  return `Cannot use the fault plan: entry ${index + 1}: a job that loses its dispatcher is over; kill another service`;
}
