/**
 * A communicator as the layer of one member knows it: its place in the tree, its synchronisations, the calls that wait for them, the
 * non-blocking collectives that were started, whether it is revoked.
 *
 * **Revocation** (§5.3.8.3). From the moment on when a member knows of it, its synchronisations have other tags: agreeing, shrinking and freeing go on
 * there. Members that do not know it yet may wait in a synchronisation with the old tags, so each member that does, and has not
 * reported there, reports in place of its program that the communicator is revoked. Everybody hears that verdict: collectives end with
 * REVOKED, other calls move to the new tags. So no program has to guess which collective the others are in, and nobody is left in one.
 *
 * **Calls that differ.** A member that has seen a failure elsewhere may agree while others are in a collective. With a death among the members the
 * collective ends with PROC_FAILED, and the agreement waits for them in the next synchronisation. Without a death the program is wrong.
 */
import type { CommRank, WorldRank } from "../base/brand.ts";
import { ErrorClass, type ErrorCode } from "../base/mpi-error.ts";
import type { Group } from "../comm/group.ts";
import { type Communicator, isNumberBefore } from "../process/communicator.ts";
import { unionOf } from "../process/communicators/member-order.ts";
import type { BackgroundBroadcast } from "./background-broadcast.ts";
import { type RecentCall, RecentCollectives, wordsOfCalls } from "./recent-collectives.ts";
import {
  isCarriedOut,
  noReport,
  Purpose,
  type SyncReport,
  type SyncVerdict,
  verdictOfWords,
  wordsOfReport,
} from "./report.ts";
import { Say, type SideMessage } from "./side-channel.ts";
import { Synchronisation } from "./synchronisation.ts";
import { predecessorOf, successorsOf } from "./tree.ts";

/** A call of the program that waits for a verdict. */
export class Turn {
  readonly purpose: number;
  readonly flags: number;
  /** The collective that the base begins while the verdict is awaited, or has begun before; null: it begins after it. */
  early: RecentCall | null;
  /** The base had begun before anybody was told: there is a verdict only if there is news. */
  readonly isUntold: boolean;
  /** Where it has reported; null: nowhere yet. */
  at: Synchronisation | null = null;
  isOver = false;
  error: ErrorCode = 0;
  verdict: SyncVerdict | null = null;

  constructor(purpose: number, flags: number, early: RecentCall | null, isUntold = false) {
    this.purpose = purpose;
    this.flags = flags;
    this.early = early;
    this.isUntold = isUntold;
  }
}

/** The layer of the process, as its communicators need it. */
export interface MemberHost {
  readonly rank: WorldRank;
  readonly fanOut: number;
  readonly isDead: boolean;
  say(comm: Communicator | null, to: WorldRank, kind: Say, words: readonly number[]): void;
  /** A member is dead; here it is heard for the first time or again. */
  heardOfDeath(dead: WorldRank): void;
  /** That member of the communicator is known to have started so many non-blocking collectives, and will start no other. */
  collectivesKnown(member: Member): void;
  revoked(member: Member): void;
  /** Members have begun a collective that comes to nothing, and this one has not: it takes part, so that the base comes to an end with it. */
  takePartIn(member: Member, call: RecentCall): void;
  /** Null: what the root says travels down the tree. */
  newBroadcast(
    comm: Communicator,
    members: Group,
    heard: (kind: number, words: readonly number[]) => void,
  ): BackgroundBroadcast | null;
  /** All members have come to the end of the communicator. */
  ended(member: Member, verdict: SyncVerdict): void;
}

/** A verdict that waits for the list of the member with most collectives. */
interface Held {
  readonly sync: Synchronisation;
  readonly number: number;
  readonly report: SyncReport;
}

export class Member {
  readonly comm: Communicator;
  readonly members: Group;
  readonly recent = new RecentCollectives();
  /** By rank: what the dead have started. */
  readonly collectivesOfDead = new Map<WorldRank, number>();
  /** How many of the dead members, in the order in which this process heard of them, the program has acknowledged. */
  acknowledged = 0;
  /** Communicators that were made of this one by shrinking. */
  shrinks = 0;
  isRevoked = false;
  /** All have come to its end. */
  isEnded = false;
  readonly #host: MemberHost;
  /** Null: this member is the root. */
  readonly #predecessor: WorldRank | null;
  readonly #successors: readonly WorldRank[];
  readonly #ordinary: Synchronisation;
  readonly #afterRevocation: Synchronisation;
  /** By which the root tells all members; null: by the tree. */
  readonly #broadcast: BackgroundBroadcast | null;
  #turns: Turn[] = [];
  /** The collective that the program is in, of which this member has told nobody; null: there is none. */
  #untold: Turn | null = null;
  /** The number of a collective whose arguments were refused, so that others may wait for this member in it; −1: none was. */
  #refused = -1;
  /** Null: it may come to others yet. */
  #firstLacked: number | null = null;
  /** At the communicator's board, as far as `recent` knows. */
  #rounds = 0;
  #held: Held | null = null;
  /** All members are dead, and the synchronisation with the old tags will say so first. */
  #heldForOld: Held | null = null;
  #hasToldDeath = false;
  /** That it is revoked: to the predecessor, to the successors. */
  #hasPassedUp = false;
  #hasPassedDown = false;

  constructor(comm: Communicator, host: MemberHost) {
    this.comm = comm;
    this.#host = host;
    this.members = unionOf(comm);
    const { size } = this.members;
    const place = this.members.rankOf(host.rank);
    const worldRank = (member: number): WorldRank => this.members.worldRank(member as CommRank);
    const predecessor = predecessorOf(place, { size, fanOut: host.fanOut });
    this.#predecessor = predecessor < 0 ? null : worldRank(predecessor);
    this.#successors = successorsOf(place, { size, fanOut: host.fanOut }).map(worldRank);
    this.#ordinary = this.#synchronisation(Say.REPORT);
    this.#afterRevocation = this.#synchronisation(Say.REPORT_REVOKED);
    this.#broadcast = host.newBroadcast(comm, this.members, (kind, words) => {
      // As if it had come down the tree.
      this.heard({ comm, source: this.#predecessor!, kind, words });
    });
  }

  #synchronisation(kind: Say): Synchronisation {
    const sync: Synchronisation = new Synchronisation(this.#predecessor === null, this.#successors.length, {
      up: (number, report) => this.#host.say(this.comm, this.#predecessor!, kind, wordsOfReport(number, report)),
      gathered: (number, report) => this.#gathered({ sync, number, report }),
    });
    return sync;
  }

  // The program's calls

  /**
   * A call comes to its synchronisation, behind those that wait already. `early`: the collective that it is, if the base could begin with it now. It
   * shall where the turn has it still: all others hear of it with the verdict, if it comes to nothing.
   */
  enter(purpose: number, flags = -1, early: RecentCall | null = null): Turn {
    const turn = new Turn(purpose, flags, early);
    this.#turns.push(turn);
    if (this.isRevoked && purpose === Purpose.COLLECTIVE) this.#end(turn, ErrorClass.REVOKED);
    else this.#go();
    if (turn.at === null) turn.early = null;
    return turn;
  }

  /** Does no call wait for a verdict? */
  get isIdle(): boolean {
    return this.#turns.length === 0;
  }

  /**
   * The base begins with a collective that no member completes before all have come to it (self-synchronised.ts). Nobody is told, and there is no verdict
   * unless this member hears that another one will not come. No call may wait for a verdict here: what this member has reported would be
   * older than what it has begun.
   */
  begin(call: RecentCall): Turn {
    this.#untold = new Turn(Purpose.COLLECTIVE, -1, call, true);
    return this.#untold;
  }

  /** The base is done with it, and it was told to nobody: all members have come. */
  met(turn: Turn): void {
    if (this.#untold === turn) this.#untold = null;
    this.#allHave();
  }

  /** The program's arguments to the collective with that number were refused here, perhaps not at the others. */
  refused(number: number): void {
    this.seeMeetings();
    if (this.#refused < 0) this.#refused = number;
  }

  /**
   * Members will carry out no collective together any more: this one comes to none, whatever numbers its calls take that end with an error. `withdrawn`: the
   * number of one at whose board it has taken its arrival back; −1: there is none.
   */
  close(withdrawn = -1): void {
    if (withdrawn >= 0) this.refused(withdrawn);
    this.#firstLacked ??= this.firstLacked;
  }

  /** The number of the first collective that this member has not come to. */
  get firstLacked(): number {
    if (this.#firstLacked !== null) return this.#firstLacked;
    this.seeMeetings();
    return this.#refused < 0 ? this.comm.nextNumber : this.#refused;
  }

  /** Takes what the root says, where it says so by broadcasts. True: anything was heard. */
  progress(): boolean {
    return this.#broadcast?.progress() === true;
  }

  /** The communicator is gone without having come to its end: the program never had it. */
  leave(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    if (this.#predecessor !== null) return;
    this.#broadcast?.say(Say.NOTHING_MORE, []);
    this.#broadcast?.close();
  }

  /** Nothing that the root has said is on its way. */
  get isSilent(): boolean {
    return this.#broadcast?.isOver !== false;
  }

  /** The program revokes the communicator. */
  revoke(): void {
    if (this.isRevoked) return;
    this.#passRevocation(null);
  }

  /** This process is dead from now on. Calls that have reported are carried out: it was alive for them. The communicator ends with or without it. */
  die(): void {
    this.#turns = this.#turns.filter(({ at, purpose }) => at !== null || purpose === Purpose.FREE);
    this.#untold = null;
    this.close();
    this.#go();
  }

  /** Members that have met at the board since this was asked last have started whatever this one had started. */
  seeMeetings(): void {
    const rounds = this.comm.board?.rounds ?? this.#rounds;
    if (rounds === this.#rounds) return;
    this.#rounds = rounds;
    this.#allHave();
  }

  /** All members have come to a call, and so to all before it. */
  #allHave(): void {
    this.#refused = -1;
    this.recent.allHave();
  }

  /** Has a dead member not started the non-blocking collective with that number? */
  isLackedByDead(number: number): boolean {
    for (const count of this.collectivesOfDead.values()) if (number >= count) return true;
    return false;
  }

  // What other members say

  heard({ source, kind, words }: SideMessage): void {
    switch (kind) {
      case Say.DEATH:
        this.#pass(source, Say.DEATH, words);
        this.#heardDeath(words as readonly [WorldRank, number, number]);
        return;
      case Say.REPORT:
      case Say.REPORT_REVOKED:
        this.#heardReport(kind === Say.REPORT ? this.#ordinary : this.#afterRevocation, words);
        return;
      case Say.VERDICT:
      case Say.VERDICT_REVOKED:
        this.#heardVerdict(kind === Say.VERDICT ? this.#ordinary : this.#afterRevocation, words);
        return;
      case Say.REVOKE:
        this.#passRevocation(source);
        return;
      case Say.NOTHING_MORE:
        this.#broadcast?.close();
        return;
      case Say.LIST_WANTED:
        this.#host.say(this.comm, source, Say.LIST, wordsOfCalls(this.recent.since(words[0] ?? 0)));
        return;
      case Say.LIST:
        if (this.#held !== null) this.#conclude(this.#held, words);
    }
  }

  #heardDeath([dead, collectives, firstLacked]: readonly [WorldRank, number, number]): void {
    this.collectivesOfDead.set(dead, collectives);
    this.#host.heardOfDeath(dead);
    this.#host.collectivesKnown(this);
    if (this.#untold !== null && !isNumberBefore(this.#untold.early!.tag, firstLacked)) this.#tellUntold();
  }

  /** Some member will not come to the collective that this one is in: so nobody completes it, and all report. */
  #tellUntold(): void {
    this.#turns.push(this.#untold!);
    this.#untold = null;
    this.#go();
  }

  #heardReport(sync: Synchronisation, words: readonly number[]): void {
    const said = verdictOfWords(words);
    if (said !== null) sync.successorReported(said.number, said.verdict);
  }

  #heardVerdict(sync: Synchronisation, words: readonly number[]): void {
    const said = verdictOfWords(words);
    if (said === null || said.number !== sync.number) return;
    this.#tell(this.#kindOfVerdict(sync), words);
    this.#over(sync, said.verdict);
  }

  // Reports and verdicts

  /** Reports what is to be reported now. */
  #go(): void {
    if (this.isEnded) return;
    if (this.#host.isDead) {
      // It has reported to the end of the communicator: nobody takes anything else from it, unless the verdict says that it is no end.
      if (this.#turns[0]?.purpose === Purpose.FREE && this.#turns[0].at !== null) return;
      if (!this.#hasToldDeath) this.#pass(null, Say.DEATH, [this.#host.rank, this.recent.count, this.firstLacked]);
      this.#hasToldDeath = true;
      // The one that may never be needed first: when the other one ends the communicator, its report has been taken too.
      for (const sync of [this.#afterRevocation, this.#ordinary]) {
        if (!sync.isClosed && !sync.hasReported) sync.report({ ...this.#own(), dead: [this.#host.rank] });
      }
      return;
    }
    const [turn] = this.#turns;
    if (this.isRevoked && !this.#ordinary.isClosed && !this.#ordinary.hasReported) {
      const begun = this.#turns.find(({ isUntold, at }) => isUntold && at === null);
      if (begun !== undefined) begun.at = this.#ordinary;
      this.#ordinary.report({ ...this.#own(), living: 1, isRevoked: true, early: begun?.early ?? null });
    }
    const sync = this.isRevoked ? this.#afterRevocation : this.#ordinary;
    if (turn === undefined || turn.at !== null || sync.hasReported) return;
    turn.at = sync;
    sync.report({
      ...this.#own(),
      living: 1,
      purposes: turn.purpose,
      flags: turn.flags,
      acknowledged: this.acknowledged,
      early: turn.early,
    });
  }

  #own(): SyncReport {
    const { count } = this.recent;
    const { firstLacked } = this;
    return {
      ...noReport,
      collectivesMin: count,
      collectivesMax: count,
      collectivesOwner: this.#host.rank,
      firstLacked,
    };
  }

  /**
   * At the root. Where all are dead the communicator ends: nobody else would ever come to its end. It does not end before what members have reported without knowing
   * of the revocation has come, too.
   */
  #gathered({ sync, number, report }: Held): void {
    const purposes = report.living === 0 ? Purpose.FREE : report.purposes;
    if (purposes === Purpose.FREE && sync === this.#afterRevocation && !this.#ordinary.isClosed) {
      this.#heldForOld = { sync, number, report };
      return;
    }
    const held = { sync, number, report: { ...report, purposes } };
    const { collectivesMin, collectivesMax, collectivesOwner } = report;
    const isEven = collectivesMin === collectivesMax;
    if (purposes !== Purpose.FREE || report.isRevoked || isEven) this.#conclude(held, []);
    else if (collectivesOwner === this.#host.rank)
      this.#conclude(held, wordsOfCalls(this.recent.since(collectivesMin)));
    else {
      this.#held = held;
      this.#host.say(this.comm, collectivesOwner as WorldRank, Say.LIST_WANTED, [collectivesMin]);
    }
  }

  #conclude({ sync, number, report }: Held, extra: readonly number[]): void {
    this.#held = null;
    const early = isCarriedOut(report) ? null : report.early;
    const verdict: SyncVerdict = { ...report, early, extra };
    this.#tell(this.#kindOfVerdict(sync), wordsOfReport(number, verdict, extra));
    this.#over(sync, verdict);
  }

  #over(sync: Synchronisation, verdict: SyncVerdict): void {
    sync.over();
    for (const dead of verdict.dead) this.#host.heardOfDeath(dead as WorldRank);
    if (verdict.isRevoked) {
      sync.isClosed = true;
      this.#setRevoked();
      if (this.#heldForOld !== null) this.#gathered(this.#heldForOld);
    }
    const [turn] = this.#turns;
    const { early } = verdict;
    const isOwn = turn?.at === sync && turn.early?.tag === early?.tag;
    if (early !== null && !isOwn && !isNumberBefore(early.tag, this.firstLacked)) this.#host.takePartIn(this, early);
    if (turn?.at === sync) this.#decide(turn, verdict);
    if (verdict.purposes === Purpose.FREE && !verdict.isRevoked) {
      this.isEnded = true;
      this.#broadcast?.close();
      for (const each of this.#turns) {
        each.verdict = verdict;
        this.#end(each, 0);
      }
      this.#host.ended(this, verdict);
      return;
    }
    if (isCarriedOut(verdict)) this.#allHave();
    this.#go();
  }

  #decide(turn: Turn, verdict: SyncVerdict): void {
    const { PROC_FAILED, REVOKED, OTHER } = ErrorClass;
    const deaths = verdict.dead.length;
    const isCollective = turn.purpose === Purpose.COLLECTIVE;
    const isSame = verdict.purposes === turn.purpose;
    turn.verdict = verdict;
    // What all members have come to is carried out: some may be through already.
    if (turn.isUntold && isNumberBefore(turn.early!.tag, verdict.firstLacked)) this.#end(turn, 0);
    else if (verdict.isRevoked) {
      if (isCollective) this.#end(turn, REVOKED);
      else turn.at = null;
    } else if (isCollective) {
      if (deaths > 0) this.#end(turn, PROC_FAILED);
      else this.#end(turn, isSame ? 0 : OTHER);
    } else if (isSame) {
      const isUnknown = turn.purpose === Purpose.AGREE && verdict.acknowledged < deaths;
      this.#end(turn, isUnknown ? PROC_FAILED : 0);
    } else if ((verdict.purposes & Purpose.COLLECTIVE) !== 0) turn.at = null;
    else this.#end(turn, OTHER);
  }

  #end(turn: Turn, error: ErrorCode): void {
    turn.error = error;
    turn.isOver = true;
    this.#turns = this.#turns.filter((each) => each !== turn);
  }

  // Revocation

  /** However many revoke: each member tells its predecessor once, and each its successors once. */
  #passRevocation(source: WorldRank | null): void {
    const isDown = source !== null && source === this.#predecessor;
    const isFirst = isDown ? !this.#hasPassedDown : !this.#hasPassedUp;
    if (isDown) this.#hasPassedDown = true;
    else this.#hasPassedUp = true;
    if (isFirst) this.#pass(source, Say.REVOKE, [0]);
    this.#setRevoked();
  }

  #setRevoked(): void {
    if (this.isRevoked) return;
    this.isRevoked = true;
    for (const turn of this.#turns) {
      if (turn.at === null && turn.purpose === Purpose.COLLECTIVE) this.#end(turn, ErrorClass.REVOKED);
    }
    this.#host.revoked(this);
    if (this.#untold === null) this.#go();
    else this.#tellUntold();
  }

  #kindOfVerdict(sync: Synchronisation): Say {
    return sync === this.#ordinary ? Say.VERDICT : Say.VERDICT_REVOKED;
  }

  /** News go up to the root, and from there down to all. `source` null: they are this member's own. */
  #pass(source: WorldRank | null, kind: Say, words: readonly number[]): void {
    const isDown = this.#predecessor === null || source === this.#predecessor;
    if (isDown) this.#tell(kind, words);
    else this.#host.say(this.comm, this.#predecessor!, kind, words);
  }

  #tell(kind: Say, words: readonly number[]): void {
    if (this.#broadcast !== null) {
      if (this.#predecessor === null) this.#broadcast.say(kind, words);
      return;
    }
    for (const successor of this.#successors) this.#host.say(this.comm, successor, kind, words);
  }
}
