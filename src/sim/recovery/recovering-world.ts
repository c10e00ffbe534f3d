/**
 * A simulated world in which the dead come back: processes, dispatcher, recovery, checkpoints, the parts of a protocol and those
 * that make things go wrong, put together. Dispatcher and recovery are the ones that ship; which programs run here, and what an
 * image of one is, is the user's business (`Programs`).
 */
import { assert } from "../../core/base/assert.ts";
import type { FaultEvent } from "../../core/fault/moment.ts";
import type { JobOutcome } from "../../core/service/outcome.ts";
import type { Rests } from "../interpreter/interpreter.ts";
import type { ProcessMemory } from "../memory.ts";
import type { Random } from "../random.ts";
import type { SimProcess } from "../sim-process.ts";
import { World, type WorldOptions } from "../world.ts";
import { Checkpoints } from "./checkpoints.ts";
import { Dispatching } from "./dispatching.ts";
import type { PartsPorts, ProtocolParts } from "./protocol-parts.ts";
import { RecoveryHost } from "./recovery-host.ts";
import { fallsAsOne } from "./sets.ts";
import { type DrawnMove, SimMoves } from "./sim-moves.ts";
import type { Trouble, TroublePorts } from "./trouble.ts";

/** How fast dispatcher and services are. */
export interface Services {
  readonly random: Random;
  readonly delayNsMax: number;
  readonly detectionNs: number;
  readonly restartNs: number;
  /** Nodes that are taken for dead are left alive; those that stand still go on after this time at the latest. */
  readonly suspectsWakeNsMax?: number | undefined;
  /** Longest time until ranks hear of deaths and returns; `delayNsMax` unless given. */
  readonly noticeNsMax?: number | undefined;
}

interface RecoveringOptions<M extends ProcessMemory, P extends ProtocolParts> {
  readonly world: WorldOptions<M>;
  /** Set of each rank. The ranks of a set fall together and are captured together. The table of this world: it changes when a rank leaves its set. */
  readonly setOf: readonly number[];
  /** How long a set may take to stand still. Null: nobody has images, and everybody starts again from the beginning. */
  readonly checkpointPatienceNs: number | null;
  /** Ranks that are moved to other nodes; none unless given. */
  readonly moves?: readonly DrawnMove[] | undefined;
  readonly services: Services;
  /** A set has fallen: can its newest image not be read? */
  readonly isCorrupt: (set: number) => boolean;
  readonly newParts: (ports: PartsPorts) => P;
  readonly newTrouble: (world: World, ports: TroublePorts) => Trouble;
}

/** The programs of the ranks. `I` is what an image of one is. */
export interface Programs<M extends ProcessMemory, I> {
  /** A new process is to become what the image says; null: that of the beginning. */
  prepare(process: SimProcess<M>, image: I | null): void;
  /** Its program begins, or goes on. */
  start(rank: number): void;
  imageOf(rank: number): I;
  /** For counts of moments. */
  fell(rank: number): void;
  captured(rank: number, checkpoint: number): void;
  /** No older checkpoint of that set will be restored. */
  oldest?(set: number, checkpoint: number): void;
}

/** A set is not asked for a checkpoint more often because logs are full. */
const forLogsMsMin = 0.02;
const nsPerMs = 1e6;

export class RecoveringWorld<M extends ProcessMemory, I, P extends ProtocolParts> {
  readonly world: World<M>;
  readonly parts: P;
  readonly recovery: RecoveryHost;
  readonly checkpoints: Checkpoints<I>;
  readonly moves: SimMoves;
  readonly trouble: Trouble;
  /** How often every process of the job was killed at once. */
  switchedOff = 0;
  readonly #options: RecoveringOptions<M, P>;
  readonly #programs: Programs<M, I>;
  readonly #dispatching: Dispatching;
  /** Lines that ranks have printed and their nodes have not said, by rank. */
  readonly #unsaid: (() => void)[][];
  /** Lines that nodes have said and no dispatcher has heard, by rank, in that order. */
  readonly #unheard: Set<() => void>[];
  /** Nodes that have said nothing to the present dispatcher, which has taken over. */
  readonly #silent = new Set<number>();
  /** Numbers of the oldest checkpoint of each set that may be restored. */
  readonly #oldest = new Map<number, number>();

  constructor(options: RecoveringOptions<M, P>, programs: Programs<M, I>) {
    const { world, setOf, newParts, newTrouble } = options;
    this.#options = options;
    this.#programs = programs;
    this.#unsaid = Array.from(setOf, () => []);
    this.#unheard = Array.from(setOf, () => new Set());
    this.parts = newParts(this.#partsPorts());
    this.world = new World<M>({
      ...world,
      ...(world.boards === undefined
        ? {}
        : { boards: { mayUse: (node, placement) => fallsAsOne(node, setOf, placement), ...world.boards } }),
      protocol: (rank) => this.parts.newProtocol(rank),
      crashed: (rank, before) => {
        this.#fell(rank);
        this.recovery.crashed(rank, before);
      },
    });
    this.checkpoints = this.#newCheckpoints();
    this.#dispatching = this.#newDispatching();
    this.recovery = this.#newRecovery();
    this.moves = this.#newMoves();
    this.trouble = newTrouble(this.#anyWorld, this.#troublePorts());
  }

  /** A rank has died, or is taken for dead. */
  #fell(rank: number): void {
    this.#programs.fell(rank);
    this.#unsaid[rank]!.length = 0;
    this.#unsaid[rank] = [];
    this.#unheard[rank] = new Set();
  }

  /** The world for parts that never look at the memory of a process. */
  get #anyWorld(): World {
    return this.world as unknown as World;
  }

  /** All programs begin. */
  begin(): void {
    this.parts.beginAll();
    this.recovery.feed((nowMs) => this.recovery.core.allBegan(nowMs));
    for (const process of this.world.processes) {
      this.#prepare(process, null);
      this.#programs.start(process.rank);
    }
    this.trouble.begin();
  }

  /** How the dispatcher has ended the job; undefined: it has not. */
  get outcome(): JobOutcome | undefined {
    return this.#dispatching.outcome;
  }

  /** How often the dispatcher has crashed; and in the middle of a record. */
  get dispatcherCrashes(): Dispatching["crashes"] {
    return this.#dispatching.crashes;
  }

  /** Nodes that were taken for dead and left alive, and how many of them went on. */
  get suspects(): Dispatching["suspects"] {
    return this.#dispatching.suspects;
  }

  /** What is wrong with the way in which the dispatcher has ended the job; empty: nothing. */
  get problemOfEnd(): string {
    const { outcome, isEnded } = this.#dispatching;
    if (!this.#dispatching.isWritten(this.recovery.core.state)) return "its journal says something else than it knows";
    if (outcome !== undefined && outcome.reason.kind !== "finished")
      return `the dispatcher has ended it: ${JSON.stringify(outcome.reason)}`;
    if (isEnded) return "";
    return outcome === undefined ? "it is not over" : "not every node has ended";
  }

  // What programs do

  /** Null: no rank is captured. */
  restsOf(rank: number): Rests | null {
    if (!this.#hasImages) return null;
    const rests = this.checkpoints.rests(this.#options.setOf[rank]!, rank);
    const process = this.world.processes[rank]!;
    // A suspect is not asked for anything.
    return { isWanted: () => !process.isSuspect && rests.isWanted(), rest: () => rests.rest() };
  }

  get #hasImages(): boolean {
    return this.#options.checkpointPatienceNs !== null;
  }

  /** A rank is about to do that action. True: a fault happens now. */
  passes(rank: number, action: number): boolean {
    this.#dispatching.passed(rank, action);
    this.moves.passes(rank, action);
    return this.trouble.passes(rank, action);
  }

  /** The program of a rank is over. */
  finished(rank: number, incarnation: number): void {
    this.#sayAll(rank, this.#unsaid[rank]!);
    this.trouble.finished(rank);
    this.recovery.caughtUp(rank, incarnation);
    this.#dispatching.rankDone(rank, incarnation);
  }

  /** A checkpoint of that set is wanted. A program runs at this moment, and cannot be stopped in the middle of a step. */
  ask(set: number): void {
    const { world } = this;
    world.plan(world.nowNs, () => this.recovery.feed((nowMs) => this.recovery.core.take(set, nowMs)));
  }

  /**
   * A rank has printed something: it is with its node, and the dispatcher hears of it after a while; before it hears of the rank's
   * image or end. What the node has not said when the rank falls is lost.
   */
  print(rank: number, hear: () => void): void {
    const unsaid = this.#unsaid[rank]!;
    unsaid.push(hear);
    const { random, delayNsMax } = this.#options.services;
    if (unsaid.length === 1)
      this.world.plan(this.world.nowNs + random.below(delayNsMax), () => this.#sayAll(rank, unsaid));
  }

  #sayAll(rank: number, unsaid: (() => void)[]): void {
    // Otherwise the node says them to the successor, behind what was lost.
    const mayBeHeard = !this.#silent.has(this.#dispatching.nodeOf(rank));
    for (const hear of unsaid.splice(0)) {
      this.#unheard[rank]!.add(hear);
      if (mayBeHeard) this.#sayLine(rank, hear);
    }
  }

  /** The node keeps a line until it is heard: a dispatcher may crash. */
  #sayLine(rank: number, hear: () => void): void {
    const unheard = this.#unheard[rank]!;
    this.say(rank, () => {
      if (unheard.delete(hear)) hear();
    });
  }

  /** From the node of a rank to the dispatcher: it arrives in the order in which it was said, before the node's end. */
  say(rank: number, hear: () => void): void {
    this.#dispatching.say(rank, hear);
  }

  /** The program of a rank ends its own node. */
  crashNodeOf(rank: number): void {
    const { world } = this;
    world.plan(world.nowNs, () => this.#dispatching.killNode(this.#dispatching.nodeOf(rank)));
  }

  // The parts

  #partsPorts(): PartsPorts {
    return {
      nowNs: () => this.world.nowNs,
      plan: (timeNs, act) => this.world.plan(timeNs, act),
      wake: (rank) => this.world.wake(rank),
      areDead: (ranks) => ranks.every((rank) => this.world.processes[rank]!.state === "dead"),
      feed: (tell) => this.recovery.feed(tell),
      say: (rank, words) => this.say(rank, () => this.recovery.feed(() => this.parts.job.rankSaid(rank, words))),
      sayOf: (node, words) => {
        this.#dispatching.sayOf(node, () => this.recovery.feed(() => this.parts.job.nodeSaid?.(node, words)));
      },
      job: {
        prepared: (set, incarnation, outcome) => {
          this.recovery.feed(() => this.recovery.core.prepared(set, incarnation, outcome));
        },
        mayCommit: (set) => this.recovery.feed((nowMs) => this.recovery.core.mayCommit(set, nowMs)),
        wantCheckpoints: (rank, sets) => {
          const wanted = this.#hasImages ? sets : [];
          this.recovery.feed((nowMs) => this.recovery.core.wantCheckpoints(rank, wanted, nowMs));
        },
        toNode: (node, words) => {
          this.#dispatching.tellNode(node, () => {
            // Dropped words would prove nothing.
            assert(
              this.parts.nodeHeard !== undefined,
              "words for nodes, and the protocol has no part there that hears",
            );
            this.parts.nodeHeard(node, words);
          });
        },
        note: () => {},
      },
    };
  }

  #newCheckpoints(): Checkpoints<I> {
    const { world } = this;
    const { setOf, services } = this.#options;
    const { random, delayNsMax, restartNs } = services;
    return new Checkpoints<I>({
      setOf,
      processOf: (rank) => this.#anyWorld.processes[rank]!,
      imageOf: (rank) => this.#programs.imageOf(rank),
      restFinished: (rank, rest) => world.start(rank, rest),
      wake: (rank) => world.wake(rank),
      later: (act) => world.plan(world.nowNs + random.below(delayNsMax), act),
      whenRestarted: (act) => world.plan(world.nowNs + random.below(restartNs + 1), act),
      isOpen: (set, number) => this.recovery.core.isOpen(set, number),
      captured: (rank, capture, sent) => {
        this.#programs.captured(rank, capture.number);
        this.#sayAll(rank, this.#unsaid[rank]!);
        this.#tellCore(rank, (nowMs) => {
          this.moves.said(rank, capture.number, sent);
          this.recovery.core.captured(rank, capture, nowMs);
        });
      },
      imageStored: (rank, image) => {
        this.#tellCore(rank, (nowMs) => this.recovery.core.imageStored(rank, image, nowMs));
      },
      verified: (set, number, problem) => {
        this.recovery.feed((nowMs) => this.recovery.core.verified(set, number, problem, nowMs));
      },
      happens: (event) => {
        world.trace.note(world.nowNs, event.step, [event.set]);
        this.trouble.checkpoint(event);
        if (event.step === "captured") this.moves.captured(event.set);
      },
    });
  }

  /** From the node of a rank. */
  #tellCore(rank: number, tell: (nowMs: number) => void): void {
    this.say(rank, () => this.recovery.feed(tell));
  }

  #newDispatching(): Dispatching {
    const { setOf, services } = this.#options;
    const { random, detectionNs, delayNsMax, restartNs, suspectsWakeNsMax = null } = services;
    return new Dispatching(
      {
        world: this.#anyWorld,
        setOf,
        random: random.fork(),
        detectionNs,
        delayNsMax,
        restartNs,
        suspectsWakeNsMax,
      },
      {
        disowned: (ranks) => {
          for (const rank of ranks) if (this.world.processes[rank]!.state !== "dead") this.#fell(rank);
          this.parts.disowned(ranks);
        },
        incarnationOf: (rank) => this.recovery.incarnationOf(rank),
        tell: (death, isMeant) => this.recovery.tell(death, isMeant),
        returned: (lives, isMeant) => this.recovery.returned(lives, isMeant),
        deathsHeard: (rank) => this.recovery.deathsHeard(rank),
        crashed: () => {
          for (let node = 0; node < this.world.nodes; node++) this.#silent.add(node);
          this.recovery.dispatcherCrashed();
        },
        sayAgain: (node) => this.#sayAgain(node),
        takeOver: (state) => {
          this.recovery.takeOver(state);
          this.moves.takeOver();
        },
        goOn: (node) => this.#goOn(node),
        fallen: (ranks) => this.recovery.fallen(ranks),
        decided: () => {
          this.checkpoints.end();
          this.parts.endSuspects();
        },
      },
    );
  }

  /** A node has answered a dispatcher that has taken over. */
  #goOn(node: number): void {
    const ranks = this.#dispatching.ranksOf(node);
    for (const set of new Set(ranks.map((rank) => this.#options.setOf[rank]!))) this.checkpoints.goOn(set);
  }

  /** Whether a rank is done is in the answer: what it has printed must be heard before that. */
  #sayAgain(node: number): void {
    this.#silent.delete(node);
    for (const rank of this.#dispatching.ranksOf(node)) {
      for (const line of this.#unheard[rank]!) this.#sayLine(rank, line);
    }
  }

  #newRecovery(): RecoveryHost {
    const { setOf, services, checkpointPatienceNs } = this.#options;
    const { random, delayNsMax, restartNs, noticeNsMax = delayNsMax } = services;
    const checkpointPatienceMs = (checkpointPatienceNs ?? 0) / nsPerMs;
    const [parts, world, dispatching] = [this.parts, this.#anyWorld, this.#dispatching];
    return new RecoveryHost(
      { world, setOf, random, delayNsMax, noticeNsMax, restartNs, parts, checkpointPatienceMs, forLogsMsMin },
      {
        record: (record) => dispatching.record(record),
        isDown: () => dispatching.isDown,
        feed: (act) => dispatching.feed(act),
        order: () => dispatching.order(),
        isLinked: (rank) => dispatching.isLinked(dispatching.nodeOf(rank)),
        // A node is told nothing before it has answered a dispatcher that has taken over: the attempt is given up in time.
        stop: (set, number) => {
          const isLinked = (rank: number): boolean => dispatching.isLinked(dispatching.nodeOf(rank));
          if (this.#membersOf(set).every(isLinked)) this.checkpoints.stop(set, number);
        },
        goOn: (set) => this.checkpoints.goOn(set),
        verify: (set, number) => this.checkpoints.verify(set, number),
        drop: (set, number) => this.checkpoints.drop(set, number),
        oldest: (set, { number }) => {
          this.#oldest.set(set, number);
          this.#programs.oldest?.(set, number);
        },
        committed: ({ set }, callsPassed) => {
          dispatching.committed(set, callsPassed);
          this.moves.committed(set);
        },
        happened: (event) => this.#happened(event),
        hasPlace: (rank) => dispatching.isNodeAlive(world.placement[rank]!),
        isOver: () => dispatching.outcome !== undefined,
        say: (rank, hear) => dispatching.say(rank, hear),
        sayOf: (node, hear) => dispatching.sayOf(node, hear),
        fallen: (ranks) => this.moves.fallen(ranks),
        began: (rank) => this.moves.began(rank),
        begun: (ranks) => dispatching.begun(ranks),
        caughtUp: (rank) => dispatching.caughtUp(rank),
        fell: (rank) => dispatching.killNode(world.placement[rank]!),
        hopeless: (problem) => dispatching.unusable(problem),
        falls: (set) => this.checkpoints.fell(set),
        isUnreadable: (set, number) => this.#isUnreadable(set, number),
        prepare: (process, set, number) => {
          const { rank } = process;
          if (number > 0 && rank === this.#membersOf(set)[0]) this.checkpoints.counts.restored++;
          const image = number === 0 ? null : this.checkpoints.imageOf({ set, number, rank });
          this.#prepare(process as unknown as SimProcess<M>, image);
        },
        start: ({ rank }) => this.#programs.start(rank),
      },
    );
  }

  #prepare(process: SimProcess<M>, image: I | null): void {
    this.#silent.delete(process.node);
    this.#programs.prepare(process, image);
    this.trouble.lives(process.rank);
  }

  /**
   * As the fault plan says, if an older checkpoint is left that can be read. Or because an earlier life has found it unreadable, and
   * its images were dropped after this life's restart was ordered: its ranks find no images, as those of a real job would.
   */
  #isUnreadable(set: number, number: number): boolean {
    if (!this.checkpoints.has(set, number)) return true;
    const isIt = number > (this.#oldest.get(set) ?? 0) && this.#options.isCorrupt(set);
    if (isIt) this.checkpoints.counts.corrupt++;
    return isIt;
  }

  #membersOf(set: number): number[] {
    const { setOf } = this.#options;
    return [...setOf.keys()].filter((rank) => setOf[rank] === set);
  }

  // Moves

  #newMoves(): SimMoves {
    const { setOf, moves = [] } = this.#options;
    const [world, dispatching, recovery] = [this.#anyWorld, this.#dispatching, this.recovery];
    return new SimMoves(
      { world, setOf, moves: this.#hasImages ? moves : [] },
      {
        dispatcher: () => dispatching.core,
        recovery: () => recovery.core,
        feed: (tell) => recovery.feed(tell),
        nowMs: () => recovery.nowMs,
        shareImages: ({ set, as, rank, checkpoint: { number } }) => {
          const problem = this.checkpoints.share({ set, number, rank }, as);
          // The older one is of all of them together, and will not be restored.
          if (problem === "") for (const each of [set, as]) this.#oldest.set(each, number);
          return problem;
        },
        dropImages: (set, number) => this.checkpoints.drop(set, number),
        endOf: (node) => dispatching.endOf(node),
        reached: (step, ranks) => {
          world.trace.note(world.nowNs, step, ranks);
          this.trouble.moves?.(step, ranks);
        },
      },
    );
  }

  // Trouble

  #troublePorts(): TroublePorts {
    const dispatching = this.#dispatching;
    return {
      isOver: () => dispatching.outcome !== undefined,
      isRankAlive: (rank) => dispatching.isRankAlive(rank),
      isNodeAlive: (node) => dispatching.isNodeAlive(node),
      killNode: (node) => {
        dispatching.excuse(node);
        dispatching.killNode(node);
      },
      killRanks: (ranks) => {
        for (const rank of ranks) dispatching.excuse(dispatching.nodeOf(rank));
        dispatching.killRanks(ranks);
      },
      stopNode: (node) => dispatching.stopNode(node),
      continueNode: (node) => dispatching.continueNode(node),
      muteNode: (node) => dispatching.muteNode(node),
      notice: () => dispatching.notice(),
      switchOff: () => {
        dispatching.crash();
        for (let node = 0; node < this.world.nodes; node++) {
          dispatching.excuse(node);
          dispatching.killNode(node);
        }
        this.checkpoints.serverLost();
        this.parts.loseAll();
        this.switchedOff++;
      },
      lose: (service, keepsContents) => {
        if (service === "checkpoint-server") this.checkpoints.serverLost();
        else if (service === "dispatcher") dispatching.crash();
        else this.parts.lose(service, keepsContents);
      },
    };
  }

  /** Events that faults may wait for. */
  #happened(event: FaultEvent): void {
    switch (event.kind) {
      case "checkpoint-asked":
      case "checkpoint-committed":
      case "image-stored": {
        const steps = {
          "checkpoint-asked": "asked",
          "checkpoint-committed": "committed",
          "image-stored": "image",
        } as const;
        const wanted = this.#membersOf(event.set).length;
        this.checkpoints.reached({ stored: 0, wanted, ...event, step: steps[event.kind] });
        return;
      }
      case "recovery":
        this.trouble.restarted(event.set);
        return;
      case "log-full":
        this.trouble.logFull(event.set);
        return;
      default:
        // What ranks do is told by them.
        return;
    }
  }
}
