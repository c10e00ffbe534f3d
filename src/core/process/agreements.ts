/**
 * Agreement among the members of a communicator while some of them die (MPIX_Comm_agree, MPIX_Comm_shrink): all that return
 * get the same verdict, also those that die after they have returned.
 *
 * Four sweeps over a tree (agreement-tree.ts), so 4 ⌈log2 p⌉ steps and 4 (p − 1) packets:
 *
 *   REPORT    up: the contributions of a subtree, and the highest proposal that one of its members has accepted, if any
 *   PROPOSE   down: the root's verdict
 *   ACCEPT    up: all members of the subtree have noted the proposal
 *   DECIDE    down: the verdict is final
 *
 * Processes hear of deaths in one order, so the number of dead members is the number of a view, and each view has one tree.
 * A member that hears of a death begins the sweeps anew in the next view, in which packets of earlier views mean nothing any more. A
 * new root takes the accepted proposal of the highest view, and makes one of its own only when no member has accepted any. A verdict is
 * final only when all members that live in a view have accepted it there, so every later root finds it among its reports. That is
 * the synod of Lamport (1998) with views in the place of ballots and, because the failure detector is perfect, with all that live in
 * the place of a majority. The tree, its mending and the answers to late questions have their model in the early returning agreement of
 * Herault, Bouteiller, Bosilca and others (SC 2015), in which a process may return two sweeps earlier: the verdict of one that
 * returned and died may be lost there.
 *
 * A member that died counts as having contributed if a report with its contribution has reached a member that lives. Reports of
 * earlier views are kept for that: each covers the subtree of its sender in its view, and the dead that it names (COVERED, ahead
 * of the report). Flags and acknowledgements may be counted twice, their AND and their minimum are the same.
 *
 * A verdict may have reached some members when a view ends. A member without one asks (ASK) its new children, and reports to its new
 * parent; a member that has one answers both with DECIDE, from inside any later call, so its verdict is kept: until all
 * are known to have it, which the reports about later agreements tell (`lowest`).
 *
 * These packets belong to no context of messages, so a revoked communicator can agree as well as any other.
 */
import type { CommRank, WorldRank } from "../base/brand.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import type { Group } from "../comm/group.ts";
import { PacketKind } from "../wire/packet.ts";
import {
  type Acceptance,
  Agreement,
  AgreementBook,
  decided,
  noEpoch,
  type Report,
  type Verdict,
  type Vote,
} from "./agreement.ts";
import { AgreementTree } from "./agreement-tree.ts";
import type { Communicator } from "./communicator.ts";
import { unionOf } from "./communicators/member-order.ts";

const Step = { REPORT: 0, PROPOSE: 1, ACCEPT: 2, DECIDE: 3, ASK: 4, COVERED: 5 } as const;
type Step = (typeof Step)[keyof typeof Step];

/** In the word of the step: the verdict has the error. */
const failedBit = 0x100;
/** The dead in a packet that names them, and the words for them. */
const coveredWords = 6;
const coveredMax = coveredWords * 32;

/** Communicators, agreements and reports of which others speak before we know them: more are not believed. */
const booksMax = 1 << 16;
const agreementsMax = 1 << 16;
const reportsMax = 1 << 16;

const noVote: Vote = { flags: 0, acknowledged: 0 };
const noVerdict: Verdict = { flags: 0, failures: 0, error: 0 };

/** The parts of a process that agreements use. */
interface AgreeingProcess {
  readonly rank: number;
  readonly engine: {
    readonly outbox: { announce(rank: number, kind: PacketKind, said: readonly number[]): void };
  };
  /** The dead in the order of their deaths. */
  readonly failures: { readonly ranks: readonly WorldRank[] };
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
    return this.begin(comm.context, unionOf(comm), comm.agreements++, { flags, acknowledged: comm.acknowledged });
  }

  /** This process has come to the agreement of that number in a context. `asks`: members may have concluded it by other means. */
  begin(context: number, members: Group, number: number, vote: Vote, asks = false): Agreement {
    const book = this.bookOf(context, members);
    const agreement = agreementOf(book, number);
    agreement.own = vote;
    agreement.asks = asks;
    this.go(book, agreement);
    return agreement;
  }

  /** This process needs no verdict in that agreement, and gives members one that come to need it. */
  conclude(context: number, members: Group, number: number): void {
    const book = this.bookOf(context, members);
    const agreement = agreementOf(book, number);
    agreement.own ??= noVote;
    if (!agreement.isDecided) this.decide(book, agreement, noVerdict, book.lowest, []);
  }

  /** Null while there is none. */
  verdictOf(agreement: Agreement): Verdict | null {
    return agreement.isDecided ? agreement.verdict : null;
  }

  /** A process is dead: agreements that it may be a member of go on without it. */
  peerFailed(): void {
    for (const book of this.books.values()) {
      if (!this.countDead(book)) continue;
      for (const agreement of [...book.agreements.values()]) this.go(book, agreement);
    }
  }

  /** True: another member is dead. */
  private countDead(book: AgreementBook): boolean {
    const { ranks } = this.process.failures;
    if (book.members.size === 0) return false;
    const before = book.dead.length;
    for (; book.deathsSeen < ranks.length; book.deathsSeen++) {
      const dead = ranks[book.deathsSeen]!;
      if (book.members.has(dead)) book.dead.push(book.members.rankOf(dead));
    }
    return book.dead.length !== before;
  }

  // Packets

  /** A packet of another member. */
  take(source: WorldRank, words: readonly number[]): void {
    const [context, number, stepAndError, view, epoch, flags, failures] = words;
    const book = this.books.get(context!) ?? (this.books.size < booksMax ? this.bookOf(context!) : null);
    if (book === null || number! < book.lowest) return;
    if (!book.agreements.has(number!) && book.agreements.size >= agreementsMax) return;
    const agreement = agreementOf(book, number!);
    const step = stepAndError! & (failedBit - 1);
    // Before our program has come to it only these can be true; whose they are is looked at when they are needed.
    const isEarly = step === Step.REPORT || step === Step.COVERED || step === Step.ASK;
    if (agreement.own === null ? !isEarly : !book.members.has(source)) return;
    const isFailed = (stepAndError! & failedBit) !== 0;
    const verdict = { flags: flags!, failures: failures!, error: isFailed ? ErrorClass.PROC_FAILED : 0 };
    switch (step) {
      case Step.COVERED:
        noteCovered(agreement, source, words);
        return;
      case Step.REPORT: {
        const vote = { flags: words[7]!, acknowledged: words[8]! };
        if (agreement.isDecided) this.answer(book, agreement, source);
        else noteReport(agreement, { source, view: view!, epoch: epoch!, verdict, vote, lowest: words[9]! });
        break;
      }
      case Step.PROPOSE:
        if (this.isProposalOf(book, agreement, source, view!)) this.accept(book, agreement, verdict);
        break;
      case Step.ACCEPT:
        if (agreement.view === view) agreement.accepted.add(book.members.rankOf(source));
        break;
      case Step.DECIDE:
        if (agreement.isDecided || verdict.failures > book.dead.length) return;
        this.decide(book, agreement, verdict, words[9]!, this.childrenOf(book));
        return;
      case Step.ASK:
        if (agreement.isDecided) this.answer(book, agreement, source);
        else if (agreement.askers.size < reportsMax) agreement.askers.add(source);
        return;
    }
    this.go(book, agreement);
  }

  /** Is it the parent that proposes, in our view, and for the first time there? */
  private isProposalOf(book: AgreementBook, agreement: Agreement, source: WorldRank, view: number): boolean {
    if (agreement.view !== view || !agreement.isReported || agreement.epoch >= view) return false;
    return treeOf(book).parentOf(this.placeIn(book)) === book.members.rankOf(source);
  }

  // Steps

  /** Does what can be done now. */
  private go(book: AgreementBook, agreement: Agreement): void {
    if (agreement.own === null || agreement.isDecided) return;
    const view = book.dead.length;
    const children = this.childrenOf(book);
    const parent = treeOf(book).parentOf(this.placeIn(book));
    if (agreement.view < view) this.enter(book, agreement, children);
    if (!agreement.isReported) {
      const { reports } = agreement;
      const hasReported = (child: WorldRank): boolean =>
        reports.some((report) => report.source === child && report.view === view);
      if (!children.every((child) => hasReported(book.members.worldRank(child as CommRank)))) return;
      agreement.isReported = true;
      const report = this.combine(book, agreement);
      if (parent >= 0) this.report(book, agreement, parent, report);
      else this.accept(book, agreement, report.epoch === noEpoch ? verdictOn(report) : report.verdict);
    }
    if (agreement.epoch !== view || agreement.isAccepted) return;
    if (!children.every((child) => agreement.accepted.has(child))) return;
    agreement.isAccepted = true;
    if (parent >= 0) this.tell(book, agreement, parent, { step: Step.ACCEPT });
    else this.decide(book, agreement, agreement.verdict, this.lowestOf(book, agreement), children);
  }

  /** A death has changed the tree, or there has been no step yet. */
  private enter(book: AgreementBook, agreement: Agreement, children: readonly number[]): void {
    agreement.view = book.dead.length;
    agreement.isReported = false;
    agreement.isAccepted = false;
    agreement.accepted.clear();
    // Where this process has accepted nothing no member can have a verdict.
    if (agreement.epoch === noEpoch && !agreement.asks) return;
    for (const child of children) this.tell(book, agreement, child, { step: Step.ASK });
  }

  /** The report on our subtree, and on the dead of whose contributions we know. */
  private combine(book: AgreementBook, agreement: Agreement): Report {
    const view = book.dead.length;
    const known = agreement.reports.filter((report) => report.view <= view && book.members.has(report.source));
    const votes = [agreement.own ?? noVote, ...known.map(({ vote }) => vote)];
    const last = known.reduce<Acceptance>((best, each) => (each.epoch > best.epoch ? each : best), agreement);
    return {
      source: this.process.rank as WorldRank,
      view,
      epoch: last.epoch,
      verdict: last.verdict,
      vote: {
        flags: votes.reduce((flags, vote) => flags & vote.flags, -1),
        acknowledged: votes.reduce((least, vote) => Math.min(least, vote.acknowledged), decided),
      },
      covered: coveredBy(book, known),
      lowest: this.lowestOf(book, agreement),
    };
  }

  /** All members of our subtree have the verdicts of agreements before this one. */
  private lowestOf(book: AgreementBook, { reports, view }: Agreement): number {
    let { lowest } = book;
    while (book.agreements.get(lowest)?.isDecided) lowest++;
    return reports.reduce((least, report) => (report.view === view ? Math.min(least, report.lowest) : least), lowest);
  }

  private report(book: AgreementBook, agreement: Agreement, parent: number, report: Report): void {
    const { covered } = report;
    for (let first = 0; first < covered.length; ) {
      const base = covered[first]!;
      const words = Array.from({ length: coveredWords }, () => 0);
      for (; first < covered.length && covered[first]! < base + coveredMax; first++) {
        const bit = covered[first]! - base;
        words[bit >> 5] = words[bit >> 5]! | (1 << (bit & 31));
      }
      const { context } = book;
      this.send(book, parent, [context, agreement.number, Step.COVERED, report.view, base, ...words]);
    }
    this.tell(book, agreement, parent, { step: Step.REPORT, ...report });
  }

  /** This process notes a proposal, which is its own or the parent's, and passes it on. */
  private accept(book: AgreementBook, agreement: Agreement, verdict: Verdict): void {
    agreement.epoch = agreement.view;
    agreement.verdict = verdict;
    for (const child of this.childrenOf(book)) this.tell(book, agreement, child, { step: Step.PROPOSE });
  }

  private decide(
    book: AgreementBook,
    agreement: Agreement,
    verdict: Verdict,
    lowest: number,
    children: readonly number[],
  ): void {
    agreement.epoch = decided;
    agreement.verdict = verdict;
    for (; book.lowest < lowest; book.lowest++) book.agreements.delete(book.lowest);
    for (const child of children) this.tell(book, agreement, child, { step: Step.DECIDE });
    // Members that take us for their parent in another view, or that want to know.
    const others = new Set([...agreement.reports.map(({ source }) => source), ...agreement.askers]);
    for (const other of others) {
      if (!children.includes(book.members.rankOf(other))) this.answer(book, agreement, other);
    }
    agreement.reports.length = 0;
    agreement.askers.clear();
    agreement.accepted.clear();
    agreement.covered.clear();
  }

  private answer(book: AgreementBook, agreement: Agreement, member: WorldRank): void {
    if (book.members.has(member)) this.tell(book, agreement, book.members.rankOf(member), { step: Step.DECIDE });
  }

  private tell(
    book: AgreementBook,
    { number, view, epoch, verdict }: Agreement,
    place: number,
    said: Partial<Report> & { readonly step: Step },
  ): void {
    const { step, vote = noVote, lowest = book.lowest } = said;
    const { flags, failures, error } = said.verdict ?? verdict;
    const stepAndError = step | (error === 0 ? 0 : failedBit);
    const words = [book.context, number, stepAndError, view, said.epoch ?? epoch, flags, failures];
    words.push(vote.flags, vote.acknowledged, lowest);
    this.send(book, place, words);
  }

  private send({ members }: AgreementBook, place: number, words: readonly number[]): void {
    this.process.engine.outbox.announce(members.worldRank(place as CommRank), PacketKind.AGREEMENT, words);
  }

  private placeIn({ members }: AgreementBook): number {
    return members.rankOf(this.process.rank as WorldRank);
  }

  private childrenOf(book: AgreementBook): number[] {
    return treeOf(book).childrenOf(this.placeIn(book));
  }

  private bookOf(context: number, members: Group | null = null): AgreementBook {
    const book = this.books.get(context) ?? new AgreementBook(context);
    this.books.set(context, book);
    if (members !== null && book.members.size === 0) book.members = members;
    this.countDead(book);
    return book;
  }
}

/** The tree of a view; of the present one unless given. */
const treeOf = ({ members, dead }: AgreementBook, view = dead.length): AgreementTree =>
  new AgreementTree(members.size, view === dead.length ? dead : dead.slice(0, view));

function agreementOf({ agreements }: AgreementBook, number: number): Agreement {
  const agreement = agreements.get(number) ?? new Agreement(number);
  agreements.set(number, agreement);
  return agreement;
}

/** The numbers of dead members, as bits behind the number of the first. */
function noteCovered(agreement: Agreement, source: WorldRank, words: readonly number[]): void {
  if (agreement.isDecided || agreement.covered.size >= reportsMax) return;
  const covered = agreement.covered.get(source) ?? [];
  agreement.covered.set(source, covered);
  if (covered.length >= reportsMax) return;
  for (let bit = 0; bit < coveredMax; bit++) {
    if (((words[5 + (bit >> 5)]! >>> (bit & 31)) & 1) === 1) covered.push(words[4]! + bit);
  }
}

function noteReport(agreement: Agreement, report: Omit<Report, "covered">): void {
  if (agreement.reports.length >= reportsMax) return;
  agreement.reports.push({ ...report, covered: agreement.covered.get(report.source) ?? [] });
  agreement.covered.delete(report.source);
}

/** The dead whose contributions are in these reports: their numbers in the order of deaths, ascending. */
function coveredBy(book: AgreementBook, reports: readonly Report[]): number[] {
  if (book.dead.length === 0) return [];
  const trees = new Map<number, AgreementTree>();
  for (const { view } of reports) if (!trees.has(view)) trees.set(view, treeOf(book, view));
  const isIn = ({ source, view, covered }: Report, number: number): boolean =>
    number < view ? covered.includes(number) : trees.get(view)!.covers(book.members.rankOf(source), book.dead[number]!);
  const numbers = Array.from(book.dead.keys());
  return numbers.filter((number) => reports.some((report) => isIn(report, number)));
}

/** The root's verdict on the report about all members: is there a death that not all had acknowledged, of one that is not covered? */
function verdictOn({ view, vote, covered }: Report): Verdict {
  let missing = view - 1;
  for (let i = covered.length - 1; i >= 0 && covered[i] === missing; i--) missing--;
  return { flags: vote.flags, failures: view, error: missing >= vote.acknowledged ? ErrorClass.PROC_FAILED : 0 };
}

lives({ Agreements });
