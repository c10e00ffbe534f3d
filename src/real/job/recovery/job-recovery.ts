/**
 * Recovery of a real job: the host of `core/service/recovery.ts` and of the protocol's part for the job. It has the timer, the
 * images, and the places of ranks; what is done, and when, the core decides. Embedded in the dispatcher's process.
 */

import { describeSystemError } from "../../../core/base/system-error.ts";
import type { Checkpoint } from "../../../core/ft/checkpoint.ts";
import type { Prepared } from "../../../core/ft/job-part.ts";
import type { SentInSet } from "../../../core/ft/set-split.ts";
import type { Dispatcher } from "../../../core/service/dispatcher.ts";
import type { SetMove } from "../../../core/service/moved-sets.ts";
import type { Placement } from "../../../core/service/placement.ts";
import { Recovery, type RecoveryOptions, type SetRestart } from "../../../core/service/recovery.ts";
import type { RecoveryState } from "../../../core/service/recovery-state.ts";
import { RestartPlacement } from "../../../core/service/restart-placement.ts";
import { SetMoves } from "../../../core/service/set-moves.ts";
import { Alarm } from "../../machine/alarm.ts";
import type { Life, RankRestart } from "../../messages/lives.ts";
import type { RecoverySetup, ToNode } from "../../messages/node-messages.ts";
import type { CaptureFacts, RankImage } from "../../messages/rank-messages.ts";
import type { JobPartHost } from "../../part-hosts/job-part-host.ts";
import type { JobJournal } from "../folder/job-journal.ts";
import type { JobNodes } from "../nodes/job-nodes.ts";
import type { JobRecoveryReport, JobReport } from "../report/job-report.ts";
import type { CheckpointServers } from "./checkpoint-servers.ts";
import type { JobFaults } from "./job-faults.ts";
import { Savings } from "./savings.ts";
import { SetImages, type SetImagesOptions } from "./set-images.ts";

/** A rank that computes and makes no call is not captured: a node that leaves does not wait for it any longer. */
const savingMsMax = 5_000;

/** Whoever waits for a checkpoint looks so often whether one is being taken. */
const takeAgainMs = 1_000;

interface JobRecoveryOptions extends RecoveryOptions, SetImagesOptions {
  /** Node of each rank; all members of a set are on one. */
  readonly placement: Placement;
  /** Can ranks be captured at any time? Programs in TypeScript say themselves when. */
  readonly canCapture: boolean;
  /** When the job began, in milliseconds since 1970. */
  readonly beganMs: number;
  /** Of a job that goes on: what its journal says. */
  readonly predecessor?: RecoveryState | undefined;
}

/** The other parts of the job, as far as recovery uses them. */
interface JobRecoveryParts {
  readonly core: Pick<
    Dispatcher,
    | "outcome"
    | "state"
    | "unusable"
    | "nodeEnded"
    | "falls"
    | "moveRanks"
    | "restartMoved"
    | "leftByMoved"
    | "isNodeAlive"
  >;
  readonly nodes: Pick<JobNodes, "send" | "sendAll" | "replace" | "processOf" | "prepareSpare" | "pids">;
  readonly report: Pick<JobReport, "note" | "committed" | "recovered" | "names" | "movedAlone">;
  readonly journal: Pick<JobJournal, "append">;
  /** Null: there is no fault plan. */
  readonly faults: Pick<JobFaults, "watchesOf" | "happened"> | null;
  readonly servers: Pick<CheckpointServers, "addresses" | "dropped">;
  /** The protocol's. */
  readonly protocolPart: Pick<JobPartHost, "part" | "forNode">;
  /** Reads images back: what is wrong with the first that is no good, empty if nothing. */
  verify(paths: readonly string[]): Promise<string>;
  /** Which process takes the place of a lost node: one of the reserve, 0: any that can be started; null: none yet (`placeTaken`). */
  successorOf(node: number): number | null;
  /** No older image of that set will be restored. */
  oldest(set: number, number: number): void;
}

export class JobRecovery {
  readonly #options: JobRecoveryOptions;
  readonly #parts: JobRecoveryParts;
  readonly #core: Recovery;
  readonly #alarm: Alarm;
  readonly #images: SetImages;
  readonly #restartPlacement: RestartPlacement;
  readonly #savings = new Savings();
  /** Nodes that were lost and started again. */
  #restarts = 0;
  /** Nodes that go when their ranks have new checkpoints. */
  readonly #draining = new Set<number>();
  readonly #moves: SetMoves;
  /** By rank: what it had sent to the others of its set when it was last captured. */
  readonly #sent = new Map<number, { readonly checkpoint: number; readonly sent: readonly SentInSet[] }>();
  /** Fulfilled when the faults planned for the latest event have happened. */
  #happened: Promise<void> = Promise.resolve();

  constructor(options: JobRecoveryOptions, parts: JobRecoveryParts) {
    this.#options = options;
    this.#parts = parts;
    const { nodes, servers } = parts;
    this.#images = new SetImages(options, {
      verify: (paths) => parts.verify(paths),
      dropped: (set, number) => servers.dropped(set, number),
    });
    this.#restartPlacement = new RestartPlacement(options.placement, {
      successorOf: (node) => parts.successorOf(node),
      replace: (node, restarts, successor) => nodes.replace(node, this.#rankRestarts(restarts), successor),
      restartRanks: (node, restarts) => this.#restartRanks(node, this.#rankRestarts(restarts)),
      notReplaced: (node) => parts.core.nodeEnded(node, { kind: "exit", code: 0 }, performance.now()),
      isEnding: () => this.#isEnding,
    });
    this.#core = this.#createCore();
    this.#moves = this.#createMoves();
    this.#alarm = new Alarm(this.#core, (nowMs) => this.#core.time(nowMs));
  }

  #createMoves(): SetMoves {
    const { core, nodes, report } = this.#parts;
    return new SetMoves({
      core,
      recovery: this.#core,
      saved: (sets, isHeld, answer) => void this.#saved(sets, Number.POSITIVE_INFINITY, isHeld).then(answer),
      setsOn: (node) => this.#setsOn(node),
      sentBy: (rank, checkpoint) => {
        const said = this.#sent.get(rank);
        return said?.checkpoint === checkpoint ? said.sent : null;
      },
      shareImages: (split) => {
        try {
          this.#images.share(split);
          return "";
        } catch (error) {
          return describeSystemError(error);
        }
      },
      dropImages: (set, checkpoint) => this.#images.drop(set, checkpoint),
      endOf: (node) => {
        const process = nodes.processOf(node);
        return () => process.cut("its ranks were moved");
      },
      nowMs: () => performance.now(),
      moved: (move) => report.movedAlone({ ...move, pids: nodes.pids }),
      note: (message) => report.note(message),
      listed: (ranks) => report.names.listed(ranks),
    });
  }

  #createCore(): Recovery {
    const { core, nodes, report, journal, faults } = this.#parts;
    return new Recovery(
      this.#options,
      this.#parts.protocolPart.part,
      {
        record: (record) => journal.append(record),
        restart: (_, restarts) => this.#restartPlacement.restart(restarts),
        hopeless: (ranks, problem) => {
          this.#unusable(problem);
          this.#restartPlacement.hopeless(ranks);
        },
        fell: (rank) => void nodes.processOf(this.#nodeOfRank(rank)).kill(),
        stop: (set, number, kept) =>
          this.#toSet(set, { kind: "checkpoint", set, members: this.#membersOf(set), number, kept }),
        goOn: (set) => this.#toSet(set, { kind: "go-on", set, members: this.#membersOf(set) }),
        verify: (set, number) => void this.#verify(set, number),
        drop: (set, number) => this.#images.drop(set, number),
        oldest: (set, oldest) => this.#oldestIs(set, oldest),
        committed: (times, callsPassed) => {
          core.falls.committed(times.set, callsPassed);
          this.#savings.committed(times.set);
          report.committed(times);
        },
        recovered: (times) => {
          report.recovered(times);
          // Not sooner: another process would take the processors from ranks that replay.
          if (!this.#isEnding) nodes.prepareSpare();
        },
        happened: (event) => {
          this.#happened = faults?.happened(event) ?? Promise.resolve();
        },
        note: (message) => report.note(message),
      },
      this.#options.predecessor,
    );
  }

  /** The job goes on: before its sets fall. */
  takeOver(): void {
    for (const { newest, oldest, set } of this.#kept()) this.#images.found(set, [newest, oldest]);
    this.#feed((nowMs) => this.#core.takeOver(nowMs));
  }

  #kept(): { set: number; newest: number; oldest: number }[] {
    return this.#sets.map((set) => ({
      set,
      newest: this.#core.newest(set).number,
      oldest: this.#core.oldest(set).number,
    }));
  }

  get #isEnding(): boolean {
    return this.#parts.core.outcome !== undefined;
  }

  /** The job ends with that line, unless it is ending already. */
  #unusable(message: string): void {
    this.#parts.core.unusable(message, performance.now());
  }

  /** Is nothing on its way back to where it was? */
  get isQuiet(): boolean {
    return this.#core.isQuiet;
  }

  /** After the end. */
  get report(): JobRecoveryReport {
    return { ...this.#core.report, restarts: this.#restarts, moves: this.#moves.count };
  }

  /** Which life of each of these ranks is the present one. */
  livesOf(ranks: readonly number[]): Life[] {
    const { incarnations } = this.#core;
    return ranks.map((rank) => ({ rank, incarnation: incarnations[rank] ?? 0 }));
  }

  /** For a node that is about to start, or to restart some ranks. */
  setup(node: number, restarts: readonly RankRestart[]): { recovery: RecoverySetup; protocolPart: unknown } {
    const { setOf, folder: checkpointFolder } = this.#options;
    const { addresses: checkpointServers } = this.#parts.servers;
    const { incarnations } = this.#core;
    const protocolPart = this.#parts.protocolPart.forNode(
      node,
      restarts.map(({ rank }) => rank),
    );
    const { beganMs } = this.#options;
    const startsEmpty = false;
    return {
      recovery: { setOf, incarnations, restarts, checkpointFolder, checkpointServers, beganMs, startsEmpty },
      protocolPart,
    };
  }

  allBegan(): void {
    this.#feed((nowMs) => this.#core.allBegan(nowMs));
  }

  /** The job is over. */
  end(): void {
    this.#core.end();
    this.#alarm.end();
    this.#savings.end();
    this.#images.end();
  }

  // The protocol's part for the job, see `JobPartPorts`

  prepared(set: number, incarnation: number, outcome: Prepared): void {
    this.#feed(() => this.#core.prepared(set, incarnation, outcome));
  }

  mayCommit(set: number): void {
    this.#feed((nowMs) => this.#core.mayCommit(set, nowMs));
  }

  wantCheckpoints(rank: number, sets: readonly number[]): void {
    this.#feed((nowMs) => this.#core.wantCheckpoints(rank, sets, nowMs));
  }

  /** Every call to the core may change when it wants to be called next. */
  #feed(act: (nowMs: number) => void): void {
    act(performance.now());
    this.#alarm.set();
  }

  // Lives

  /** The node is gone, and with it these ranks. */
  nodeFallen(node: number, ranks: readonly number[]): void {
    if (!this.#moves.isMoving) this.#restarts++;
    this.#draining.delete(node);
    this.#restartPlacement.gone(node);
    this.fallen(ranks);
  }

  /** There is a process for the place of a lost node, for which there was none. */
  placeTaken(node: number, successor: number): void {
    this.#restartPlacement.taken(node, successor);
  }

  /** These ranks are gone, and their node is not. */
  fallen(ranks: readonly number[]): void {
    this.#moves.fallen(new Set(ranks.map((rank) => this.#options.setOf[rank]!)));
    this.#feed((nowMs) => this.#core.fallen(ranks, nowMs));
  }

  /** The node lives on: some of its ranks begin their next life there. */
  #restartRanks(node: number, restarts: readonly RankRestart[]): void {
    const ranks = restarts.map(({ rank }) => rank);
    const watches = this.#parts.faults?.watchesOf(ranks) ?? [];
    this.#parts.nodes.send(node, { kind: "restart-ranks", ranks, ...this.setup(node, restarts), watches });
  }

  #rankRestarts(restarts: readonly SetRestart[]): RankRestart[] {
    return restarts.flatMap(({ members, incarnation, checkpoint, forRanks: data }) => {
      return members.map((rank) => ({ rank, incarnation, checkpoint: checkpoint.number, data }));
    });
  }

  began(rank: number, incarnation: number): void {
    this.#feed((nowMs) => this.#core.began(rank, incarnation, nowMs));
    if (incarnation === this.#core.incarnations[rank]) this.#moves.began(rank);
  }

  caughtUp(rank: number, incarnation: number): void {
    this.#feed((nowMs) => this.#core.caughtUp(rank, incarnation, nowMs));
  }

  imageUnreadable(rank: number, number: number, why: string): void {
    this.#feed(() => this.#core.imageUnreadable(rank, number, why));
  }

  // Checkpoints

  takeAll(): void {
    this.#feed((nowMs) => this.#core.takeAll(nowMs));
  }

  /** Checkpoints of that node's ranks, now. Fulfilled when they count, or after a while: there may be none. */
  async saveNode(node: number): Promise<void> {
    if (this.#options.canCapture) await this.#saved(this.#setsOn(node), savingMsMax);
  }

  /**
   * A node shall go, and its ranks shall begin again in the process that takes its place: from checkpoints that are taken for that, so that little is done
   * again. Returns the obstacle; empty: it goes when they are stored. A program in TypeScript takes its next checkpoint itself.
   */
  drain(node: number): string {
    const { nodes, report } = this.#parts;
    const sets = this.#setsOn(node);
    if (this.#draining.has(node)) return "it is being drained";
    const obstacle = this.#moveObstacle;
    if (obstacle !== "") return obstacle;
    if (sets.length === 0) return "it has no ranks";
    this.#draining.add(node);
    const ranks = sets.flatMap((set) => this.#membersOf(set));
    report.note(`node ${node} is drained: ${report.names.listed(ranks)} will begin again from the next checkpoint`);
    // If it is lost before, the one that takes its place is meant by nobody.
    const drained = nodes.processOf(node);
    void this.#saved(sets, Number.POSITIVE_INFINITY).then((isSaved) => {
      this.#draining.delete(node);
      if (isSaved) drained.cut("it was drained");
    });
    return "";
  }

  /** Ranks, all of their sets, shall go on elsewhere. Returns the obstacle; empty: they do when checkpoints are stored. */
  move(move: SetMove): string {
    if (this.#draining.size > 0) return "a node is being drained; try again when its ranks are back";
    const obstacle = this.#moveObstacle;
    if (obstacle === "") this.#moves.begin(move);
    return obstacle;
  }

  get #moveObstacle(): string {
    if (this.#moves.isUnderWay) return "ranks are being moved; try again when they are there";
    return this.isQuiet ? "" : "lost ranks are coming back; try again when they are there";
  }

  #setsOn(node: number): number[] {
    return this.#sets.filter((set) => this.#membersOf(set).some((rank) => this.#nodeOfRank(rank) === node));
  }

  get #sets(): number[] {
    return Array.from({ length: this.#core.sets }, (_, set) => set);
  }

  /** Fulfilled when new checkpoints of these sets count: true; or after so long. `isHeld`: ranks that were captured stand still. */
  async #saved(sets: readonly number[], msMax: number, isHeld = false): Promise<boolean> {
    const saved = this.#savings.begin(sets, msMax);
    if (!this.#options.canCapture) return saved.done;
    const take = (set: number, nowMs: number): void => {
      if (isHeld) this.#core.takeAndHold(set, nowMs);
      else this.#core.take(set, nowMs);
    };
    this.#feed((nowMs) => {
      for (const set of sets) take(set, nowMs);
    });
    // An attempt that was given up is repeated.
    const again = setInterval(() => {
      this.#feed((nowMs) => {
        for (const set of saved.missing) this.#core.take(set, nowMs);
      });
    }, takeAgainMs);
    const isSaved = await saved.done;
    clearInterval(again);
    return isSaved;
  }

  checkpointWanted(rank: number, incarnation: number): void {
    this.#feed((nowMs) => this.#core.checkpointWanted(rank, incarnation, nowMs));
  }

  stopped(rank: number, number: number): void {
    this.#feed((nowMs) => this.#core.stopped(rank, number, nowMs));
  }

  captured(rank: number, facts: CaptureFacts): void {
    this.#sent.set(rank, { checkpoint: facts.number, sent: facts.sent });
    this.#feed((nowMs) => this.#core.captured(rank, facts, nowMs));
  }

  image(rank: number, image: RankImage): void {
    const set = this.#options.setOf[rank]!;
    if (this.#core.isOpen(set, image.number)) this.#images.stored(set, image.number, image.needs);
    this.#sent.set(rank, { checkpoint: image.number, sent: image.sent });
    this.#feed((nowMs) => this.#core.imageStored(rank, image, nowMs));
  }

  async #verify(set: number, number: number): Promise<void> {
    await this.#happened;
    if (!this.#core.isOpen(set, number)) return;
    const problem = await this.#images.verify(set, number, this.#membersOf(set));
    this.#feed((nowMs) => this.#core.verified(set, number, problem, nowMs));
  }

  #oldestIs(set: number, oldest: Checkpoint): void {
    this.#toSet(set, { kind: "oldest", set, ...oldest });
    this.#parts.oldest(set, oldest.number);
  }

  // Places

  #toSet(set: number, message: ToNode): void {
    const nodes = new Set(this.#membersOf(set).map((rank) => this.#nodeOfRank(rank)));
    for (const node of nodes) this.#parts.nodes.send(node, message);
  }

  #nodeOfRank(rank: number): number {
    return this.#options.placement[rank]!;
  }

  #membersOf(set: number): readonly number[] {
    return this.#core.membersOf(set);
  }
}
