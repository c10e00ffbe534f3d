/**
 * A simulated job under `none` whose ranks spawn others (MPI 5.0 §11.8): the dispatcher and the admission are the real cores, the tasks
 * by which parents and children meet are too; nodes start processes after a while, cannot at times, and may be lost at any moment.
 */
import { assert } from "../../core/base/assert.ts";
import type { Pointer } from "../../core/base/brand.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { Group } from "../../core/comm/group.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import { CreateGroup, MeetParents, Merge, Spawn } from "../../core/process/new-communicators.ts";
import type { Origin, SpawnAnswer } from "../../core/process/spawner.ts";
import type { Task } from "../../core/process/task.ts";
import { Dispatcher } from "../../core/service/dispatcher.ts";
import type { JobOutcome } from "../../core/service/outcome.ts";
import type { Placement } from "../../core/service/placement.ts";
import { SpawnAdmission } from "../../core/service/spawn-admission.ts";
import type { Random } from "../random.ts";
import type { SimProcess, Steps } from "../sim-process.ts";
import { World } from "../world.ts";

/** What a wish is for, as far as the children must know. */
type Parentage = Pick<Origin, "parents" | "context" | "count">;

export interface SpawnJobOptions {
  readonly random: Random;
  readonly nodes: number;
  readonly parents: number;
  /** All numbers that a process can have. */
  readonly universe: number;
  /** How many processes each wish is for. */
  readonly wishes: readonly number[];
  /** How often a node cannot start its part. */
  readonly refusals: number;
  readonly delayNsMax: number;
  /** Somebody dies then. */
  readonly death:
    | { readonly timeNs: number; readonly rank: number }
    | { readonly timeNs: number; readonly node: number }
    | null;
  /** False: processes whose order was refused are left alone, for a test that wants to see it fail. */
  readonly endsRefused?: boolean;
}

export interface SpawnJobOutcome {
  readonly job: JobOutcome | undefined;
  readonly isEnded: boolean;
  readonly decisions: number;
  readonly stuck: readonly number[];
  /** Ranks whose programs were not over when the job had finished and their nodes were told to end. */
  readonly left: readonly number[];
  /** Of each wish, what came of it; undefined: nobody answered. */
  readonly answers: readonly (SpawnAnswer | undefined)[];
  /** Ranks that met on a merged communicator, by wish. */
  readonly met: readonly number[];
  /** Orders under way when somebody died. */
  readonly diedWhileStarting: number;
}

const vanished = { kind: "vanished", code: 1 } as const;

export class SpawnJob {
  readonly #options: SpawnJobOptions;
  readonly #random: Random;
  readonly #world: World;
  readonly #dispatcher: Dispatcher;
  readonly #admission: SpawnAdmission<Parentage>;
  readonly #answers: (SpawnAnswer | undefined)[] = [];
  readonly #met: number[];
  /** Nodes and ranks that nobody reports any more: they end because they were told to, or their node is gone. */
  readonly #silent = new Set<number>();
  readonly #lostNodes = new Set<number>();
  /** When the last message between the dispatcher and each node arrives, either way. */
  readonly #lastNs = new Map<string, number>();
  readonly #left: number[] = [];
  #decisions = 0;
  #isEnded = false;
  #underWay = 0;
  #diedWhileStarting = 0;

  constructor(options: SpawnJobOptions) {
    const { random, nodes, universe, parents, wishes, death } = options;
    this.#options = options;
    this.#random = random;
    this.#met = wishes.map(() => 0);
    this.#world = new World({
      ranks: universe,
      nodes,
      seed: random.bits(),
      cost: { jitterNs: 2_000 },
      eventsMax: 1_000_000,
      crashed: (rank) => this.#crashed(rank),
    });
    const { placement } = this.#world;
    this.#dispatcher = this.#newDispatcher(placement);
    this.#admission = new SpawnAdmission<Parentage>(placement, {
      dispatcher: this.#dispatcher,
      isFreezing: () => false,
      joined() {},
      start: (node, ranks, order) => this.#order(node, () => this.#startOn(node, ranks, order)),
      end: (node, ranks) => {
        if (options.endsRefused !== false) this.#order(node, () => this.#endRanks(ranks));
      },
      answer: (rank, answer) => this.#order(placement[rank]!, () => this.#answer(rank, answer)),
    });
    for (let rank = 0; rank < parents; rank++) this.#world.start(rank, (process) => this.#parent(process));
    if (death !== null) this.#world.plan(death.timeNs, () => this.#die(death));
  }

  run(): SpawnJobOutcome {
    const stuck = this.#world.run().map(({ rank }) => rank);
    return {
      job: this.#dispatcher.outcome,
      isEnded: this.#isEnded,
      decisions: this.#decisions,
      stuck,
      left: this.#left,
      answers: this.#options.wishes.map((_, i) => this.#answers[i]),
      met: this.#met,
      diedWhileStarting: this.#diedWhileStarting,
    };
  }

  #newDispatcher(placement: Placement): Dispatcher {
    const { nodes, parents } = this.#options;
    const patience = { patienceMs: 1, starvedPatienceMs: 1, startPatienceMs: 1, starvedStartPatienceMs: 1 };
    const limits = { heartbeatMs: 1, endPatienceMs: 1, timeoutMs: Number.POSITIVE_INFINITY };
    return new Dispatcher(
      { ...patience, ...limits, placement, nodes, ranks: parents, deaths: "fatal" },
      {
        record() {},
        tell: ({ rank, incarnation }) => this.#tellAll(rank, incarnation),
        restart() {},
        restartRanks() {},
        endRanks() {},
        decided: () => {
          this.#decisions++;
        },
        left() {},
        survived() {},
        work: () => 0,
        end: (node) => this.#order(node, () => this.#endNode(node)),
        kill: (node) => this.#endNode(node),
        disown() {},
        ended: () => {
          this.#isEnded = true;
        },
      },
      0,
    );
  }

  get #nowMs(): number {
    return this.#world.nowNs / 1e6;
  }

  // Between nodes and the dispatcher: in order, each way

  #travel(channel: string, act: () => void): void {
    const { nowNs } = this.#world;
    const timeNs = Math.max(this.#lastNs.get(channel) ?? 0, nowNs + this.#random.below(this.#options.delayNsMax));
    this.#lastNs.set(channel, timeNs);
    this.#world.plan(timeNs, act);
  }

  #order(node: number, act: () => void): void {
    this.#travel(`to node ${node}`, () => {
      if (!this.#lostNodes.has(node)) act();
    });
  }

  /** What a node has said arrives, whatever happens to it afterwards. */
  #say(node: number, act: () => void): void {
    this.#travel(`from node ${node}`, act);
  }

  // Deaths and ends

  #die(death: NonNullable<SpawnJobOptions["death"]>): void {
    this.#diedWhileStarting = this.#underWay;
    if ("rank" in death) {
      if (this.#world.processes[death.rank]!.state !== "passive") this.#world.crash(death.rank);
      return;
    }
    this.#loseNode(death.node, { kind: "signal", signal: "SIGKILL", signalNumber: 9 });
  }

  #crashed(rank: number): void {
    const node = this.#world.placement[rank]!;
    if (this.#silent.has(rank) || this.#lostNodes.has(node)) return;
    this.#say(node, () => this.#dispatcher.rankEnded(rank, 0, vanished, this.#nowMs));
  }

  #loseNode(node: number, loss: Parameters<Dispatcher["nodeEnded"]>[1]): void {
    if (this.#lostNodes.has(node)) return;
    this.#lostNodes.add(node);
    for (const process of [...this.#world.processes]) if (process.node === node) this.#world.crash(process.rank);
    this.#say(node, () => {
      this.#dispatcher.nodeEnded(node, loss, this.#nowMs);
      this.#admission.nodeEnded(node);
    });
  }

  #endNode(node: number): void {
    const isFinished = this.#dispatcher.outcome?.reason.kind === "finished";
    for (const process of this.#world.processes) {
      const isLeft = process.state === "waiting" || process.state === "computing";
      if (isFinished && process.node === node && isLeft) this.#left.push(process.rank);
    }
    this.#loseNode(node, { kind: "exit", code: 0 });
  }

  #endRanks(ranks: readonly number[]): void {
    for (const rank of ranks) {
      this.#silent.add(rank);
      this.#world.crash(rank);
    }
  }

  #tellAll(dead: number, incarnation: number): void {
    for (const process of this.#world.processes) {
      this.#order(process.node, () => {
        if (process.state === "dead") return;
        process.core.peerFailed({ rank: dead, replica: 0 }, incarnation);
        this.#world.wake(process.rank);
      });
    }
  }

  // Spawning

  #startOn(
    node: number,
    ranks: readonly number[],
    order: { number: number; children: readonly number[]; programs: Parentage },
  ): void {
    const problem = this.#random.chance(this.#options.refusals) ? `node ${node} has no memory` : "";
    if (problem === "") {
      const origin = { ...order.programs, world: order.children, command: 0 };
      for (const rank of ranks) this.#world.start(rank, (process) => this.#child(process, origin));
    }
    this.#say(node, () => this.#admission.ready(node, order.number, problem));
  }

  #answer(rank: number, answer: SpawnAnswer): void {
    this.#underWay--;
    assert(this.#answers.push(answer) <= this.#options.wishes.length, "a wish is answered twice");
    this.#world.wake(rank);
  }

  *#parent(process: SimProcess): Steps {
    const { core, rank } = process;
    const parents = Array.from({ length: this.#options.parents }, (_, i) => i);
    const local = yield* make(process, new CreateGroup(core.world, Group.of(parents), 1, core));
    for (const [wish, processes] of this.#options.wishes.entries()) {
      const root = wish % parents.length;
      const isRoot = rank === root;
      if (isRoot) {
        const programs = { parents, context: local.context, count: local.children };
        this.#underWay++;
        this.#say(process.node, () => this.#admission.asked({ rank, processes, programs }));
        yield process.until("an answer", () => this.#answers.length > wish);
      }
      const task = new Spawn(local, root, isRoot ? outcomeOf(this.#answers[wish]!, processes) : null);
      yield* run(process, task);
      if (task.error === ErrorClass.SPAWN) continue;
      yield* this.#meet(process, task, wish, false);
    }
    this.#finish(process);
  }

  *#child(process: SimProcess, origin: Origin): Steps {
    const task = new MeetParents(origin);
    yield* run(process, task);
    yield* this.#meet(process, task, origin.count, true);
    this.#finish(process);
  }

  *#meet(process: SimProcess, { error, result }: Spawn | MeetParents, wish: number, isChild: boolean): Steps {
    const { core, engine } = process;
    // Under `none` somebody is dead then, and the job is about to end.
    if (error !== 0 || result === null) return yield process.until("the end of the job", () => false);
    const merged = yield* make(process, new Merge(result, isChild, core));
    const barrier = core.collectives.startEqual(merged, "barrier", 0 as Pointer, 0 as Pointer, {});
    yield barrier;
    engine.giveBack(barrier);
    this.#met[wish]!++;
    for (const comm of [result, merged]) core.freeCommunicator(comm);
  }

  #finish({ rank, node }: SimProcess): void {
    this.#silent.add(rank);
    this.#say(node, () => this.#dispatcher.rankEnded(rank, 0, { kind: "returned" }, this.#nowMs));
  }
}

function outcomeOf(answer: SpawnAnswer, wanted: number) {
  if (answer.kind === "spawned") return { error: 0, why: "", wanted, children: answer.children };
  const why = answer.kind === "refused" ? answer.why : "";
  return { error: ErrorClass.SPAWN, why, wanted, children: [] };
}

function* run(process: SimProcess, task: Task): Steps {
  const request = process.core.start(task);
  yield request;
  process.engine.giveBack(request);
}

/** A new communicator; a rank that depends on a dead one waits for the end of the job. */
function* make(process: SimProcess, task: CreateGroup | Merge): Steps<Communicator> {
  yield* run(process, task);
  if (task.result === null) yield process.until("the end of the job", () => false);
  return task.result!;
}
