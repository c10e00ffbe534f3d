/**
 * The source of a clone has asked, and this process plays a rank in its world that has lost its replica in the clone's. It answers when it has sent
 * in the source's world all that is known to have been sent in the clone's: then nothing that comes to the clone there depends on what its
 * source has not sent yet (revival.ts). Everybody else says what it knows.
 */
import type { ProcessName } from "../../base/identity.ts";
import { lives, saves } from "../../base/saved-classes.ts";
import type { ProtocolPorts } from "../protocol.ts";
import { cloneOfQuestion } from "./clone-source.ts";
import type { Membership } from "./membership.ts";
import { RevivalWord } from "./revival-words.ts";
import { Roll } from "./roll.ts";
import type { SeenOrder } from "./seen-order.ts";
import type { ReplicatedSends } from "./sending/replicated-sends.ts";
import type { Past } from "./strands.ts";
import type { WorldGates } from "./world-gates.ts";

/** What has been said of the newest question, which may come before the question itself. */
class Inquiry {
  readonly question: number;
  readonly life: number;
  /** Null: the question has not come. */
  source: ProcessName | null = null;
  readonly said: ProcessName[] = [];
  /** What this process had seen when all was posted; null: it is not. */
  past: Past | null = null;

  constructor(question: number, life: number) {
    this.question = question;
    this.life = life;
  }
}

interface SourceAnswersParts {
  readonly ports: ProtocolPorts;
  readonly membership: Membership;
  readonly sends: ReplicatedSends;
  readonly order: SeenOrder;
  readonly gates: WorldGates;
  readonly place: ProcessName;
}

export class SourceAnswers {
  private readonly ports: ProtocolPorts;
  private readonly membership: Membership;
  private readonly sends: ReplicatedSends;
  private readonly order: SeenOrder;
  private readonly gates: WorldGates;
  private place: ProcessName;
  private inquiry: Inquiry | null = null;
  /** Those that have not said what they know. */
  private readonly awaited = new Roll();

  constructor({ ports, membership, sends, order, gates, place }: SourceAnswersParts) {
    this.ports = ports;
    this.membership = membership;
    this.sends = sends;
    this.order = order;
    this.gates = gates;
    this.place = place;
  }

  /** Lives of clones and rounds of questions only grow. */
  private inquiryOf(question: number, life: number): Inquiry | null {
    const { inquiry } = this;
    if (inquiry !== null && (life < inquiry.life || (life === inquiry.life && question < inquiry.question)))
      return null;
    if (inquiry?.life === life && inquiry.question === question) return inquiry;
    this.inquiry = new Inquiry(question, life);
    return this.inquiry;
  }

  hearSaid(name: ProcessName, question: number, life: number): void {
    this.inquiryOf(question, life)?.said.push(name);
    this.awaited.remove(name);
  }

  ask(source: ProcessName, question: number, life: number): void {
    const { membership, place } = this;
    const inquiry = this.inquiryOf(question, life);
    if (inquiry === null) return;
    inquiry.source = source;
    this.awaited.clear();
    for (let rank = 0; rank < membership.ranks; rank++) {
      const living = rank === place.rank ? 0 : membership.livingOf(rank);
      for (let replica = 0; living >>> replica !== 0; replica++) {
        const isSource = rank === source.rank && replica === source.replica;
        if ((living & (1 << replica)) !== 0 && !isSource) this.awaited.add({ rank, replica });
      }
    }
    for (const name of inquiry.said) this.awaited.remove(name);
    this.answer();
    if (this.isBusy) this.ports.tell(source, { a: RevivalWord.LACKING, b: question, c: life });
  }

  get isBusy(): boolean {
    return this.inquiry !== null && this.inquiry.source !== null;
  }

  answer(): void {
    const { inquiry } = this;
    if (inquiry === null || inquiry.source === null || !this.awaited.isEmpty) return;
    const { source, question, life } = inquiry;
    if (inquiry.past === null) {
      if (!this.sends.sentInWorlds.hasPosted(cloneOfQuestion(question))) return;
      inquiry.past = this.order.strands.pastNow(this.order.end);
    }
    if (!this.gates.mayPass(source.replica, inquiry.past)) return;
    inquiry.source = null;
    this.ports.tell(source, { a: RevivalWord.PREPARED, b: question, c: life });
  }

  /** Everybody who lives is asked again then. */
  died(name: ProcessName): void {
    this.awaited.remove(name);
    this.answer();
  }

  /** This process is a clone. */
  begin(place: ProcessName): void {
    this.place = place;
    this.inquiry = null;
    this.awaited.clear();
  }
}

saves({ Inquiry });
lives({ SourceAnswers });
