/**
 * Agreement among the members of a communicator while some of them die (MPIX_Comm_agree, MPIX_Comm_shrink): all that return
 * get the same verdict, also those that die after they have returned.
 *
 * A coordinator leads, the first member that lives:
 *
 *   REPORT    member → coordinator: the member's contribution, and the proposal that it has accepted last, if any
 *   PROPOSE   coordinator → members, when all that live have reported: the verdict
 *   ACCEPT    member → coordinator: the proposal is noted
 *   DECIDE    coordinator → members, when all that live have accepted: the verdict is final
 *
 * A member that hears of the coordinator's death reports to the next one, at the next place in the members' order, so places are
 * epochs: they only grow. A new coordinator takes a verdict that is final, else the accepted one of the highest epoch, and
 * makes one of its own only when no member has accepted any. A verdict is final only when all members that live have accepted it,
 * so every later coordinator finds it among its reports. That is the rotating coordinator of Chandra and Toueg (1996) with a
 * perfect failure detector: the dispatcher declares no living process dead, and tells all processes in the same order.
 *
 * That order makes a set of dead processes a number: the first so many. The verdict has the highest number that a member knew of,
 * and a member that has heard of fewer waits until it has heard of them all.
 *
 * A member that has returned still reports, from inside any later call, so its verdict is kept: until all are known to have it,
 * which the reports about later agreements tell (`lowest`).
 *
 * These packets belong to no context of messages, so a revoked communicator can agree as well as any other.
 */
import type { CommRank, WorldRank } from "../base/brand.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import type { Engine } from "../p2p/engine.ts";
import { PacketKind } from "../wire/packet.ts";
import { Agreement, AgreementBook, decided, noEpoch, type Report, type Verdict, type Vote } from "./agreement.ts";
import type { Communicator } from "./communicator.ts";
import { unionOf } from "./communicators/member-order.ts";
import type { Failures } from "./failures.ts";

const Step = { REPORT: 0, PROPOSE: 1, ACCEPT: 2, DECIDE: 3 } as const;
type Step = (typeof Step)[keyof typeof Step];

/** Communicators and agreements of which others speak before we know them: more are not believed. */
const booksMax = 1 << 16;
const agreementsMax = 1 << 16;

const noContribution: Vote = { flags: 0, failures: 0, acknowledged: 0 };

/** The parts of a process that agreements use. */
interface AgreeingProcess {
  readonly rank: number;
  readonly engine: Engine;
  readonly failures: Failures;
}

export class Agreements {
  private readonly process: AgreeingProcess;
  /** By context. */
  private readonly books = new Map<number, AgreementBook>();

  constructor(process: AgreeingProcess) {
    this.process = process;
  }

  has(context: number): boolean {
    return this.books.has(context);
  }

  /** The program has come to the next agreement of a communicator. */
  join(comm: Communicator, flags: number): Agreement {
    const book = this.bookOf(comm.context);
    if (book.members.size === 0) book.members = unionOf(comm);
    const agreement = agreementOf(book, comm.agreements++);
    agreement.own = { flags, failures: this.process.failures.count, acknowledged: comm.acknowledged };
    this.go(book, agreement);
    return agreement;
  }

  /** Null while there is none, or while we have not heard of all deaths that are agreed on. */
  verdictOf(agreement: Agreement): Verdict | null {
    const isKnown = agreement.isDecided && this.process.failures.count >= agreement.verdict.failures;
    return isKnown ? agreement.verdict : null;
  }

  /** A process is dead: it may have been a coordinator, or the member that a coordinator waited for. */
  peerFailed(): void {
    for (const book of this.books.values()) {
      for (const agreement of [...book.agreements.values()]) this.go(book, agreement);
    }
  }

  /** A packet of another member. */
  take(source: WorldRank, words: readonly number[]): void {
    const [context, number, step, epoch] = words as [number, number, number, number];
    const known = this.books.get(context);
    if (known === undefined && this.books.size >= booksMax) return;
    const book = known ?? this.bookOf(context);
    const isUnknown = !book.agreements.has(number);
    if (number < book.lowest || (isUnknown && book.agreements.size >= agreementsMax)) return;
    const agreement = agreementOf(book, number);
    // Before our program has come to it only reports can be true; whose they are is looked at when they are needed.
    const isBelieved = agreement.own === null ? step === Step.REPORT : book.members.has(source);
    if (!isBelieved) return;
    const verdict = { flags: words[4]!, failures: words[5]!, error: words[6]! };
    switch (step) {
      case Step.REPORT: {
        const contribution = { flags: words[7]!, failures: words[8]!, acknowledged: words[9]! };
        agreement.reports.set(source, { epoch, verdict, contribution, lowest: words[10]! });
        if (epoch === decided) this.decide(book, agreement, verdict, 0);
        break;
      }
      case Step.PROPOSE:
        if (epoch > agreement.epoch) {
          agreement.epoch = epoch;
          agreement.verdict = verdict;
        }
        this.tell(book, agreement, source, Step.ACCEPT, { epoch });
        return;
      case Step.ACCEPT:
        if (agreement.isProposed) agreement.accepted.add(source);
        break;
      case Step.DECIDE:
        this.decide(book, agreement, verdict, words[10]!);
        return;
    }
    this.go(book, agreement);
  }

  /** Does what can be done now. */
  private go(book: AgreementBook, agreement: Agreement): void {
    if (agreement.own === null) return;
    const { engine, rank } = this.process;
    let place = 0 as CommRank;
    while (engine.peers.hasFailed(book.members.worldRank(place))) place = (place + 1) as CommRank;
    const coordinator = book.members.worldRank(place);
    if (coordinator === rank) this.coordinate(book, agreement);
    else if (agreement.reportedTo !== coordinator) {
      agreement.reportedTo = coordinator;
      this.tell(book, agreement, coordinator, Step.REPORT, this.reportOf(book, agreement));
    }
  }

  private coordinate(book: AgreementBook, agreement: Agreement): void {
    if (!agreement.isDecided && !agreement.isProposed && !this.propose(book, agreement)) return;
    if (!agreement.isDecided) {
      if (!this.isEverybody(book, agreement.accepted)) return;
      const reports = this.reportsOf(book, agreement);
      const lowest = reports.reduce((least, report) => Math.min(least, report.lowest), decided);
      this.decide(book, agreement, agreement.verdict, lowest);
    }
    // Also to members that report to this one, their new coordinator, after it has decided.
    for (const [member, report] of agreement.reports) {
      if (report.epoch !== decided) this.tell(book, agreement, member, Step.DECIDE, { epoch: decided });
    }
    agreement.reports.clear();
  }

  /** False: not all members have reported yet. */
  private propose(book: AgreementBook, agreement: Agreement): boolean {
    if (!this.isEverybody(book, agreement.reports)) return false;
    const reports = this.reportsOf(book, agreement);
    const latest = reports.reduce((best, report) => (report.epoch > best.epoch ? report : best));
    const verdict = latest.epoch === noEpoch ? this.combine(book, reports) : latest.verdict;
    if (verdict === null) return false;
    agreement.isProposed = true;
    agreement.epoch = book.members.rankOf(this.process.rank as WorldRank);
    agreement.verdict = verdict;
    for (const member of this.othersOf(book)) {
      this.tell(book, agreement, member, Step.PROPOSE, { epoch: agreement.epoch });
    }
    return true;
  }

  /** All other members that live, as far as we know. */
  private othersOf({ members }: AgreementBook): WorldRank[] {
    const { engine, rank } = this.process;
    return members.worldRanks().filter((member) => member !== rank && !engine.peers.hasFailed(member));
  }

  private isEverybody(book: AgreementBook, some: { readonly size: number; has(member: WorldRank): boolean }): boolean {
    // Asked for every packet: most of the time the number says no.
    if (some.size < book.members.size - 1 - this.process.failures.count) return false;
    return this.othersOf(book).every((member) => some.has(member));
  }

  /** Null: others know of deaths that we have to hear of first. */
  private combine(book: AgreementBook, reports: readonly Report[]): Verdict | null {
    const known = this.process.failures.ranks;
    const contributions = reports.map(({ contribution }) => contribution);
    const failures = contributions.reduce((most, each) => Math.max(most, each.failures), known.length);
    if (failures > known.length) return null;
    const dead = known.filter((rank) => book.members.has(rank)).length;
    const acknowledged = Math.min(...contributions.map((each) => each.acknowledged));
    return {
      flags: contributions.reduce((flags, each) => flags & each.flags, -1),
      failures,
      error: dead > acknowledged ? ErrorClass.PROC_FAILED : 0,
    };
  }

  private decide(book: AgreementBook, agreement: Agreement, verdict: Verdict, lowest: number): void {
    agreement.epoch = decided;
    agreement.verdict = verdict;
    for (; book.lowest < lowest; book.lowest++) book.agreements.delete(book.lowest);
  }

  /** Our own report and those of all other members that live. */
  private reportsOf(book: AgreementBook, agreement: Agreement): Report[] {
    const others = this.othersOf(book).flatMap((member) => agreement.reports.get(member) ?? []);
    return [this.reportOf(book, agreement), ...others];
  }

  private reportOf(book: AgreementBook, { epoch, verdict, own }: Agreement): Report {
    let { lowest } = book;
    while (book.agreements.get(lowest)?.isDecided) lowest++;
    return { epoch, verdict, contribution: own ?? noContribution, lowest };
  }

  private tell(
    { context, lowest }: AgreementBook,
    { number, verdict }: Agreement,
    member: WorldRank,
    step: Step,
    said: Partial<Report> & { readonly epoch: number },
  ): void {
    const { contribution = noContribution } = said;
    const words = [context, number, step, said.epoch, verdict.flags, verdict.failures, verdict.error];
    words.push(contribution.flags, contribution.failures, contribution.acknowledged, said.lowest ?? lowest);
    this.process.engine.outbox.announce(member, PacketKind.AGREEMENT, words);
  }

  private bookOf(context: number): AgreementBook {
    const book = this.books.get(context) ?? new AgreementBook(context);
    this.books.set(context, book);
    return book;
  }
}

function agreementOf({ agreements }: AgreementBook, number: number): Agreement {
  const agreement = agreements.get(number) ?? new Agreement(number);
  agreements.set(number, agreement);
  return agreement;
}

lives({ Agreements });
