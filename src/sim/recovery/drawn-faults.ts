/** Faults drawn from the seed: targets and times. Every fault happens once, not once for each life (rule 10). */
import { unreachable } from "../../core/base/assert.ts";
import type { Random } from "../random.ts";
import type { World } from "../world.ts";
import { type CheckpointProgress, type CheckpointStep, checkpointSteps } from "./checkpoints.ts";
import { type MoveStep, moveSteps } from "./sim-moves.ts";
import type { Trouble, TroublePorts } from "./trouble.ts";

type FaultTime =
  /** The rank is about to do that action, in whichever life; an action behind the last: its program is over. */
  | { readonly kind: "action"; readonly rank: number; readonly action: number }
  /** The restart with this number, counted over all sets from 1, has begun. */
  | { readonly kind: "restart"; readonly number: number }
  /** Checkpoints have come to this step this many times, counted over all sets. */
  | { readonly kind: "checkpoint"; readonly step: CheckpointStep; readonly number: number }
  /** Moves have come to this step this many times. */
  | { readonly kind: "move"; readonly step: MoveStep; readonly number: number };

/** Set −1: the set that was restarted or captured. */
type FaultTarget =
  /** A rank that is moved, or its node. */
  | { readonly kind: "moved"; readonly isNode: boolean }
  | { readonly kind: "rank"; readonly rank: number }
  | { readonly kind: "node"; readonly node: number }
  | { readonly kind: "set"; readonly set: number }
  /** Lost with its contents, or its connections alone. */
  | {
      readonly kind: "service";
      readonly service: "event-logger" | "checkpoint-server" | "dispatcher";
      readonly keepsContents: boolean;
    }
  /** The link is cut for a while. */
  | { readonly kind: "link"; readonly link: readonly [number, number]; readonly forNs: number }
  /** The node stands still for a while; if that is too long, the dispatcher takes it for dead. */
  | { readonly kind: "stop"; readonly node: number; readonly forNs: number }
  /** The node runs, and the dispatcher hears nothing of it for a while. */
  | { readonly kind: "mute"; readonly node: number; readonly forNs: number }
  /** Every process of the job at once. */
  | { readonly kind: "everything" };

interface DrawnFault {
  readonly time: FaultTime;
  readonly afterNs: number;
  readonly target: FaultTarget;
}

interface DrawnFaultsOptions {
  readonly nodes: number;
  readonly setOf: readonly number[];
  /** Number of actions of each rank. */
  readonly actions: readonly number[];
  readonly hasCheckpoints: boolean;
}

export function drawFaults(random: Random, options: DrawnFaultsOptions): DrawnFault[] {
  const faults: DrawnFault[] = [];
  for (let left = random.pick([1, 1, 2, 3, 5]); left > 0; left--) {
    const fault = drawFault(random, options, faults.length);
    faults.push(fault);
    // Two at once.
    if (random.chance(0.25)) faults.push({ ...fault, target: targetOf(random, options, fault.time) });
  }
  const { nodes } = options;
  const timeNow = (): Pick<DrawnFault, "time" | "afterNs"> => drawFault(random, options, 0);
  if (random.chance(0.2)) {
    const service = random.pick(["event-logger", "event-logger", "checkpoint-server"] as const);
    faults.push({ ...timeNow(), target: { kind: "service", service, keepsContents: random.chance(0.5) } });
  }
  if (nodes > 1 && random.chance(0.2)) {
    const one = random.below(nodes - 1);
    const link = [one, random.between(one + 1, nodes - 1)] as const;
    faults.push({ ...timeNow(), target: { kind: "link", link, forNs: random.pick([1_000, 50_000, 2_000_000]) } });
  }
  if (random.chance(0.1)) {
    const forNs = random.pick([20_000, 2_000_000, 2_000_000_000]);
    faults.push({ ...timeNow(), target: { kind: "stop", node: random.below(nodes), forNs } });
  }
  // Drawn last, so that nothing else changes; several, perhaps.
  if (random.chance(0.3)) {
    for (let left = random.pick([1, 1, 2, 4]); left > 0; left--) {
      const time = random.chance(0.5) ? soonAfter(random.pick(faults), random) : timeNow();
      faults.push({ ...time, target: { kind: "service", service: "dispatcher", keepsContents: false } });
    }
  }
  // The event logger and something else in the same instant, or one soon after the other; again drawn behind all others.
  if (random.chance(0.3)) {
    const time = random.chance(0.5) ? random.pick(faults) : soonAfter(random.pick(faults), random);
    const target = { kind: "service", service: "event-logger", keepsContents: false } as const;
    faults.push({ time: time.time, afterNs: time.afterNs, target });
  }
  // Behind all others too: the plug is pulled, perhaps in the middle of something else, perhaps twice.
  if (random.chance(0.2)) {
    for (let left = random.pick([1, 1, 2]); left > 0; left--) {
      const time = random.chance(0.5) ? soonAfter(random.pick(faults), random) : timeNow();
      faults.push({ time: time.time, afterNs: time.afterNs, target: { kind: "everything" } });
    }
  }
  return faults;
}

/** What happens in the middle of moves: to the moved, to others, to services. */
export function drawMoveFaults(random: Random, options: DrawnFaultsOptions): DrawnFault[] {
  return Array.from({ length: random.pick([0, 1, 1, 2, 3]) }, () => {
    const time = { kind: "move", step: random.pick(moveSteps), number: random.pick([1, 1, 2]) } as const;
    const afterNs = random.pick([0, 0, 200, 5_000, 50_000, 500_000]);
    return { time, afterNs, target: moveTargetOf(random, options) };
  });
}

function moveTargetOf(random: Random, options: DrawnFaultsOptions): FaultTarget {
  switch (random.below(8)) {
    case 0:
      return { kind: "service", service: "dispatcher", keepsContents: false };
    case 1:
      return { kind: "service", service: "event-logger", keepsContents: random.chance(0.5) };
    case 2:
      return { kind: "service", service: "checkpoint-server", keepsContents: false };
    case 3:
      return random.chance(0.5) ? { kind: "everything" } : { kind: "node", node: random.below(options.nodes) };
    case 4:
      return { kind: "rank", rank: random.below(options.setOf.length) };
    default:
      return { kind: "moved", isNode: random.chance(0.5) };
  }
}

/** Nodes that stand still, or cannot be heard, for so long that they are taken for dead, for worlds that leave those alive. */
export function drawStops(random: Random, options: DrawnFaultsOptions): DrawnFault[] {
  return Array.from({ length: random.pick([1, 1, 2, 3]) }, (_, before) => {
    const { time, afterNs } = drawFault(random, options, before);
    const kind = random.pick(["stop", "mute"] as const);
    const forNs = random.pick([30_000, 2_000_000_000, 2_000_000_000]);
    return { time, afterNs, target: { kind, node: random.below(options.nodes), forNs } };
  });
}

/** A moment at which the dispatcher may have ordered what follows from a fault, and the orders are on their way. */
function soonAfter({ time, afterNs }: DrawnFault, random: Random): Pick<DrawnFault, "time" | "afterNs"> {
  return { time, afterNs: afterNs + random.pick([0, 2_000, 50_000, 300_000]) };
}

function drawFault(random: Random, options: DrawnFaultsOptions, before: number): DrawnFault {
  const afterNs = random.pick([0, 0, 200, 5_000, 50_000, 500_000]);
  if (before > 0 && random.chance(0.5)) {
    const time = { kind: "restart", number: random.between(1, before) } as const;
    return { time, afterNs, target: targetOf(random, options, time) };
  }
  if (options.hasCheckpoints && random.chance(0.4)) {
    const time = { kind: "checkpoint", step: random.pick(checkpointSteps), number: random.between(1, 3) } as const;
    return { time, afterNs, target: targetOf(random, options, time) };
  }
  const rank = random.below(options.actions.length);
  const count = options.actions[rank]!;
  const action = random.pick([
    0,
    Math.min(1, count),
    count,
    ...Array.from({ length: 8 }, () => random.between(0, count)),
  ]);
  const time = { kind: "action", rank, action } as const;
  return { time, afterNs, target: targetOf(random, options, time) };
}

function targetOf(random: Random, { nodes, setOf }: DrawnFaultsOptions, time: FaultTime): FaultTarget {
  if (time.kind !== "action" && random.chance(0.5)) return { kind: "set", set: -1 };
  if (time.kind === "action" && random.chance(0.5)) return { kind: "rank", rank: time.rank };
  switch (random.below(3)) {
    case 0:
      return { kind: "node", node: random.below(nodes) };
    case 1:
      return { kind: "set", set: random.pick([...setOf]) };
    default:
      return { kind: "rank", rank: random.below(setOf.length) };
  }
}

/** Makes drawn faults happen. */
export class DrawnFaults implements Trouble {
  readonly #left: Set<DrawnFault>;
  readonly #world: World;
  readonly #setOf: readonly number[];
  readonly #steps = new Map<CheckpointStep, number>();
  readonly #moveSteps = new Map<MoveStep, number>();
  #restarts = 0;
  happened = 0;
  readonly fired: readonly number[] = [];

  readonly #ports: TroublePorts;

  constructor(
    faults: readonly DrawnFault[],
    { world, setOf }: { readonly world: World; readonly setOf: readonly number[] },
    ports: TroublePorts,
  ) {
    this.#left = new Set(faults);
    this.#world = world;
    this.#setOf = setOf;
    this.#ports = ports;
  }

  begin(): void {}

  lives(): void {}

  passes(rank: number, action: number): boolean {
    return this.#happen(({ time }) => time.kind === "action" && time.rank === rank && time.action === action);
  }

  finished(): void {}

  logFull(): void {}

  restarted(set: number): void {
    const number = ++this.#restarts;
    this.#happen(({ time }) => time.kind === "restart" && time.number === number, set);
  }

  checkpoint({ step, set }: CheckpointProgress): void {
    const number = (this.#steps.get(step) ?? 0) + 1;
    this.#steps.set(step, number);
    const isNow = ({ time }: DrawnFault): boolean =>
      time.kind === "checkpoint" && time.step === step && time.number === number;
    this.#happen(isNow, set);
  }

  moves(step: MoveStep, ranks: readonly number[]): void {
    const number = (this.#moveSteps.get(step) ?? 0) + 1;
    this.#moveSteps.set(step, number);
    this.#happen(({ time }) => time.kind === "move" && time.step === step && time.number === number, -1, ranks);
  }

  #happen(isNow: (fault: DrawnFault) => boolean, set = -1, moved: readonly number[] = []): boolean {
    const world = this.#world;
    let isAtOnce = false;
    for (const fault of this.#left) {
      if (!isNow(fault)) continue;
      this.#left.delete(fault);
      this.happened++;
      world.plan(world.nowNs + fault.afterNs, () => this.#do(fault.target, set, moved));
      if (fault.afterNs === 0) isAtOnce = true;
    }
    return isAtOnce;
  }

  #do(target: FaultTarget, set: number, moved: readonly number[]): void {
    const world = this.#world;
    const ports = this.#ports;
    if (ports.isOver()) return;
    switch (target.kind) {
      case "rank":
        ports.killRanks([target.rank]);
        return;
      case "moved":
        if (target.isNode) ports.killNode(world.processes[moved[0]!]!.node);
        else ports.killRanks(moved.slice(0, 1));
        return;
      case "node":
        ports.killNode(target.node);
        return;
      case "set": {
        const wanted = target.set < 0 ? set : target.set;
        ports.killRanks([...this.#setOf.keys()].filter((rank) => this.#setOf[rank] === wanted));
        return;
      }
      case "service":
        ports.lose(target.service, target.keepsContents);
        return;
      case "link":
        world.cutLink(...target.link);
        world.plan(world.nowNs + target.forNs, () => world.restoreLink(...target.link));
        return;
      case "stop":
        ports.stopNode(target.node);
        world.plan(world.nowNs + target.forNs, () => ports.continueNode(target.node));
        return;
      case "everything":
        ports.switchOff();
        return;
      case "mute":
        world.plan(world.nowNs + target.forNs, ports.muteNode(target.node));
        return;
      default:
        unreachable(target);
    }
  }
}
