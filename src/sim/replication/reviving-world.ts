/**
 * Worlds of replicas in which the lost come back as clones (R6): the simulated dispatcher, which decides as the real one does
 * (core/service/clone-schedule.ts), declares deaths in one order, carries images, and lets clones begin.
 */
import { assert } from "../../core/base/assert.ts";
import type { ProcessName } from "../../core/base/identity.ts";
import type { ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import { Settling } from "../../core/process/settling.ts";
import { type CloneAttempt, CloneSchedule, isMove } from "../../core/service/clone-schedule.ts";
import type { SpareNodes } from "../../core/service/spare-nodes.ts";
import { interpret, type Rests } from "../interpreter/interpreter.ts";
import { ScriptState } from "../interpreter/script-state.ts";
import { LogicalClock, Observation } from "../observation.ts";
import { atOnce, type Outside } from "../outside/outside.ts";
import { PrintedOutput } from "../outside/printed-output.ts";
import { RankFiles } from "../outside/rank-files.ts";
import type { Random } from "../random.ts";
import { rankImageOf, restoreRank, type SimRankImage } from "../recovery/rank-image.ts";
import type { Script } from "../script/script.ts";
import type { SimProcess, Steps } from "../sim-process.ts";
import { World, type WorldOptions } from "../world.ts";

/** Moments of an attempt, for tests that want something to happen there. */
export type CloneMoment = "copied" | "asked" | "captured" | "begun" | "back" | "given up";

interface RevivingOptions {
  readonly plan: readonly number[];
  readonly script: Script;
  readonly world: Omit<WorldOptions, "replicas" | "protocol" | "crashed" | "hasImages">;
  /** Of delays: everything takes up to `delayNsMax`, images up to `imageNsMax`. */
  readonly random: Random;
  readonly delayNsMax: number;
  readonly imageNsMax: number;
  /** So long a source is copied before it is asked, at most; not at all unless given. */
  readonly copyNsMax?: number | undefined;
  readonly newProtocol: (name: ProcessName, ports: Parameters<NewReplica>[1]) => ReplicationProtocol;
  readonly happens?: ((moment: CloneMoment, attempt: CloneAttempt) => void) | undefined;
  /** Places for the lost, each process counted as a node; undefined: there is always one. */
  readonly places?: SpareNodes | undefined;
}

type NewReplica = (
  name: ProcessName,
  ports: ConstructorParameters<typeof ReplicationProtocol>[1],
) => ReplicationProtocol;

/** A source that has not been captured then will not be: somebody may wait for somebody who waits for the clone. */
const patienceNs = 200_000_000;

export class RevivingWorld {
  readonly world: World;
  readonly clock = new LogicalClock();
  readonly outside: Outside;
  readonly counts = { copied: 0, asked: 0, captured: 0, begun: 0, back: 0, givenUp: 0 };
  readonly #options: RevivingOptions;
  readonly #schedule: CloneSchedule;
  /** By process. */
  readonly #states: (ScriptState | undefined)[] = [];
  readonly #protocols: ReplicationProtocol[] = [];
  readonly #lives: number[];
  /** When each hears of the last death: all hear of deaths, and sources of orders, in one order (rule 7). */
  readonly #heardNs: number[];
  /** How often a source came to rest. */
  #rests = 0;
  /** The order that a source has. */
  readonly #asked = new Map<number, CloneAttempt>();
  /** Processes that shall go on elsewhere, and whose turn has not come. */
  readonly #ordered = new Set<number>();
  /** Processes that stand still behind the image of their next life. */
  readonly #frozen = new Set<number>();
  /** A process ends because its next life begins elsewhere: nobody is told of a death. */
  #isReplacing = false;
  /** Moves that were wanted, that began elsewhere, and that came to nothing. */
  readonly moves = { wanted: 0, begun: 0, back: 0, givenUp: 0 };
  /** Processes that are lost, and whose places nobody takes. */
  readonly #homeless = new Set<number>();

  constructor(options: RevivingOptions) {
    const { plan, script } = options;
    this.#options = options;
    const count = plan.length * Math.max(...plan);
    this.#lives = new Array<number>(count).fill(0);
    this.#heardNs = new Array<number>(count).fill(0);
    this.#schedule = new CloneSchedule(plan, {
      copy: (attempt) => this.#copy(attempt),
      ask: (attempt) => this.#ask(attempt),
      giveUp: (attempt) => this.#giveUp(attempt),
      hasPlace: (clone) => !this.#homeless.has(this.#numberOf(clone)),
    });
    this.world = new World({
      ...options.world,
      replicas: plan,
      hasImages: true,
      protocol: (process) => (ports) => this.#newProtocol(process, ports),
      crashed: (process) => this.#crashed(process),
    });
    const { world } = this;
    this.outside = atOnce(new PrintedOutput(plan.length), new RankFiles(plan.length, () => world.nowNs));
    for (const process of world.processes) {
      if (process.state === "dead") continue;
      this.#states[process.number] = this.#newState(process);
      this.#start(process.number);
    }
    assert(script.ranks === plan.length, "a script for these ranks");
  }

  #newProtocol(process: number, ports: Parameters<NewReplica>[1]): ReplicationProtocol {
    const made = this.#options.newProtocol(this.world?.nameOf(process) ?? this.#nameOf(process), ports);
    this.#protocols[process] = made;
    return made;
  }

  /** While the world is being made. */
  #nameOf(process: number): ProcessName {
    const ranks = this.#options.plan.length;
    return { rank: process % ranks, replica: Math.floor(process / ranks) };
  }

  #numberOf({ rank, replica }: ProcessName): number {
    return replica * this.#options.plan.length + rank;
  }

  #newState(process: SimProcess): ScriptState {
    return new ScriptState(this.#options.script, process, {
      observation: new Observation(this.clock),
      witness: null,
      outside: this.outside,
      hasImages: true,
    });
  }

  #start(process: number): void {
    const state = this.#states[process]!;
    this.world.start(process, () => this.#program(state, process));
  }

  *#program(state: ScriptState, process: number): Steps {
    yield* interpret(state, this.#restsOf(process));
    if (this.#asked.has(process)) this.#schedule.refused(state.rank);
  }

  protocolOf(process: number): ReplicationProtocol {
    return this.#protocols[process]!;
  }

  /** What the processes of a world have seen. */
  observationOf(replica: number): Observation {
    const states = this.#states.filter((_, process) => this.#nameOf(process).replica === replica);
    return Observation.of(
      states.flatMap((state) => (state === undefined ? [] : [state.observation])),
      this.clock,
    );
  }

  // The dispatcher

  #delayNs(most: number): number {
    return most === 0 ? 0 : this.#options.random.below(most);
  }

  /** A process hears something from the dispatcher, behind what it was told before. */
  #later(process: number, act: () => void): void {
    const { world } = this;
    const timeNs = Math.max(
      this.#heardNs[process]!,
      world.nowNs + world.cost.detectionNs + this.#delayNs(this.#options.delayNsMax),
    );
    this.#heardNs[process] = timeNs;
    const life = this.#lives[process]!;
    world.plan(timeNs, () => {
      if (world.processes[process]!.state === "dead" || this.#lives[process] !== life) return;
      act();
      world.wake(process);
    });
  }

  #declare(name: ProcessName, life: number): void {
    for (const { number, core, state } of this.world.processes) {
      if (state !== "dead") this.#later(number, () => core.peerFailed(name, life));
    }
  }

  /** A living replica shall go on elsewhere. */
  move(process: number): void {
    if (this.world.processes[process]!.state === "dead" || this.#ordered.has(process)) return;
    this.moves.wanted++;
    this.#ordered.add(process);
    this.#schedule.move(this.world.nameOf(process));
  }

  #crashed(process: number): void {
    if (this.#isReplacing) return;
    this.#frozen.delete(process);
    this.#ordered.delete(process);
    const name = this.world.nameOf(process);
    this.#asked.delete(process);
    if (this.#options.places?.successorOf(process) === null) this.#homeless.add(process);
    this.#declare(name, this.#lives[process]!);
    this.#schedule.died(name);
  }

  /** Nobody but the dispatcher and two nodes has to do with it: time passes, and somebody may die. */
  #copy(attempt: CloneAttempt): void {
    const { copyNsMax = 0 } = this.#options;
    if (isMove(attempt))
      assert(this.#ordered.delete(this.#numberOf(attempt.clone)), "who is moved was to be, and has not died since");
    if (copyNsMax === 0) {
      this.#schedule.copied(attempt);
      return;
    }
    this.#happens("copied", attempt);
    this.world.plan(this.world.nowNs + this.#delayNs(copyNsMax), () => this.#schedule.copied(attempt));
  }

  #ask(attempt: CloneAttempt): void {
    const { clone, life, source } = attempt;
    this.#happens("asked", attempt);
    const process = this.#numberOf({ rank: clone.rank, replica: source });
    this.#later(process, () => {
      if (!this.#schedule.isPresent(attempt)) return;
      if (this.world.processes[process]!.state === "finished") {
        this.#schedule.refused(clone.rank);
        return;
      }
      this.#asked.set(process, attempt);
      this.world.plan(this.world.nowNs + patienceNs, () => {
        const { present } = this.#schedule;
        if (present?.life === attempt.life && present.step === "asked") this.#schedule.failed(attempt);
      });
      this.#protocols[process]!.cloning.prepare(clone.replica, life);
    });
  }

  #giveUp(attempt: CloneAttempt): void {
    this.#happens("given up", attempt);
    const source = this.#numberOf({ rank: attempt.clone.rank, replica: attempt.source });
    this.#asked.delete(source);
    if (isMove(attempt)) {
      this.moves.givenUp++;
      this.#later(source, () => {
        this.#frozen.delete(source);
        this.#protocols[source]!.cloning.stay(attempt.life);
      });
      return;
    }
    this.#declare(attempt.clone, attempt.life);
  }

  #happens(moment: CloneMoment, attempt: CloneAttempt): void {
    this.counts[moment === "given up" ? "givenUp" : moment]++;
    this.#options.happens?.(moment, attempt);
  }

  // The source

  #restsOf(process: number): Rests {
    const isWanted = (): boolean => this.#asked.has(process) && this.#protocols[process]!.cloning.isPrepared;
    return { isWanted, rest: () => this.#rest(process, isWanted) };
  }

  *#rest(process: number, isWanted: () => boolean): Steps {
    const state = this.#states[process]!;
    const sim = state.process;
    const attempt = this.#asked.get(process)!;
    // Messages of the process to itself must not be on their way.
    const settling = new Settling(sim.core, [sim.rank], ++this.#rests);
    let isGivenUp = false;
    yield sim.settle("its messages to itself", () => {
      isGivenUp = !isWanted() && settling.giveUp();
      return isGivenUp || settling.advance() === "quiet";
    });
    if (!isGivenUp && isWanted() && this.#asked.get(process) === attempt) {
      this.#capture(process, attempt);
      if (this.#frozen.has(process)) yield sim.still("its next life", () => !this.#frozen.has(process));
    }
    sim.core.collectives.arriveAgain();
  }

  #capture(process: number, attempt: CloneAttempt): void {
    const { world } = this;
    this.#states[process]!.core.rememberNumbers();
    const image = rankImageOf(this.#states[process]!, 0);
    this.#protocols[process]!.cloning.captured();
    this.#asked.delete(process);
    if (isMove(attempt)) this.#frozen.add(process);
    this.#schedule.captured(attempt);
    this.#happens("captured", attempt);
    world.plan(world.nowNs + this.#delayNs(this.#options.imageNsMax), () => this.#begin(attempt, image));
  }

  // The clone

  #begin(attempt: CloneAttempt, image: SimRankImage): void {
    const { clone, life } = attempt;
    const { world } = this;
    if (!this.#schedule.begin(attempt)) return;
    const number = this.#numberOf(clone);
    if (isMove(attempt)) this.#end(number);
    this.#lives[number] = life;
    this.#heardNs[number] = world.nowNs;
    const process = world.revive(number, this.#lives, (ports) => this.#newProtocol(number, ports));
    const state = this.#newState(process);
    this.#states[number] = state;
    restoreRank(state, image);
    const members = world.processes.map(({ number: other, state: now }) => ({
      ...world.nameOf(other),
      life: this.#lives[other]!,
      isAlive: now !== "dead",
    }));
    process.core.beginLife({
      incarnation: life,
      incarnations: [],
      data: { replica: clone.replica, members },
      caughtUp: () => {
        if (this.#lives[number] !== life || world.processes[number]!.state === "dead") return;
        this.#happens("back", attempt);
        if (isMove(attempt)) this.moves.back++;
        this.#schedule.back(attempt);
      },
    });
    this.#start(number);
    this.#happens("begun", attempt);
  }

  /** The life before that of a replica which goes on elsewhere. */
  #end(process: number): void {
    this.moves.begun++;
    this.#frozen.delete(process);
    this.#isReplacing = true;
    this.world.crash(process);
    this.#isReplacing = false;
  }
}
