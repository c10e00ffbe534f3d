/**
 * When synchronous sends to other sets are complete: a message was matched, and the receiver's choices before that are stable. The
 * program must not hear of a match that may never have been. So a sender whose message was taken asks (ASK), and the receiver
 * answers as soon as that is certain (ANSWER).
 */
import { lives } from "../../base/saved-classes.ts";
import type { DeterminantLog } from "../determinants/determinant-log.ts";
import type { ProtocolPorts } from "../protocol.ts";
import type { Channel } from "./channel.ts";
import { Frame, tell } from "./frames.ts";
import { type Kept, noRequest } from "./kept.ts";

/** A question of a peer, and the position of the stream that must be stable before the answer. */
interface Question {
  readonly peer: number;
  readonly sequence: number;
  readonly ticket: number;
}

export class Confirmations {
  private readonly ports: ProtocolPorts;
  private readonly log: DeterminantLog;
  /** In the order of asking. */
  private questions: Question[] = [];

  constructor(ports: ProtocolPorts, log: DeterminantLog) {
    this.ports = ports;
    this.log = log;
  }

  // The sender

  /** A message was taken: if the program waits for that, its receiver is asked. */
  ask(channel: Channel, message: Kept): void {
    if (message.send < 0) return;
    channel.asked.set(message.sequence, message);
    tell(this.ports, channel.peer, Frame.ASK, message.sequence);
  }

  hearAnswer(channel: Channel, sequence: number): void {
    const message = channel.asked.get(sequence);
    if (message === undefined) return;
    channel.asked.delete(sequence);
    this.complete(message);
  }

  /** It is certain that the message was taken. */
  complete(message: Kept): void {
    if (message.send < 0) return;
    const { send } = message;
    message.send = noRequest;
    this.ports.complete(send);
  }

  // The receiver

  hearQuestion(peer: number, sequence: number): void {
    this.questions.push({ peer, sequence, ticket: this.log.ticket() });
    this.answer();
  }

  get isAsked(): boolean {
    return this.questions.length !== 0;
  }

  /** Answers the questions whose answers have become certain; true when there were any. */
  answer(): boolean {
    const { questions, log } = this;
    let answered = 0;
    for (const { peer, sequence, ticket } of questions) {
      if (!log.isStable(ticket)) break;
      tell(this.ports, peer, Frame.ANSWER, sequence);
      answered++;
    }
    questions.splice(0, answered);
    return answered !== 0;
  }

  /** That peer's life is over, and its questions with it. */
  forget(lost: number): void {
    this.questions = this.questions.filter(({ peer }) => peer !== lost);
  }
}

lives({ Confirmations });
