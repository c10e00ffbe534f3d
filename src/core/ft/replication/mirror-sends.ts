/**
 * The sending side of the mirror protocol: every replica of a sender sends every message to every replica of its receiver, which takes
 * the first that comes. A message may fall with the replica whose bytes its receiver has begun to take; whether another replica of
 * the sender announces the same message or sends it whole depends on the room at its receiver. So each of them keeps it until its
 * receivers say that they hold it, and sends it again to a receiver that asks for it.
 */
import type { ProcessName } from "../../base/identity.ts";
import { lives, saves } from "../../base/saved-classes.ts";
import type { KeptSend } from "./sending/kept-send.ts";
import { ReplicatedSends } from "./sending/replicated-sends.ts";

/** A message that a receiver has asked for again. */
class Wish {
  /** The object may be another message by the time of the wish's turn: to that rank, with that number, it is this one. */
  readonly message: KeptSend;
  readonly dest: number;
  readonly sequence: number;
  readonly replica: number;

  constructor(message: KeptSend, replica: number) {
    this.message = message;
    this.dest = message.dest;
    this.sequence = message.sequence;
    this.replica = replica;
  }
}

export class MirrorSends extends ReplicatedSends {
  /** Those that can be granted as soon as there is room. */
  private readonly wishes: Wish[] = [];

  protected override get servesAll(): boolean {
    return true;
  }

  /** A receiver takes the message of whichever replica is first. */
  protected override get unvoted(): number {
    return 0;
  }

  /** Its receiver may drop it, because it takes the bytes of another replica. */
  protected override wentWhole(): void {}

  /** A receiver that has begun to take the bytes of another replica answers too. Whether it has all of them, it says itself. */
  protected override answered(message: KeptSend, replica: number): void {
    const bit = 1 << replica;
    if ((message.wished & bit) === 0) return;
    message.wished &= ~bit;
    if ((message.has & bit) === 0) this.wishes.push(new Wish(message, replica));
  }

  /** A replica of a receiver lacks the bytes of a message, because the process that was sending them is dead. */
  again({ rank, replica }: ProcessName, sequence: number): void {
    const message = this.channels.to(rank).find(sequence);
    if (message === null) return;
    const bit = 1 << replica;
    if ((message.has & bit) !== 0) return;
    // The answer to an announcement may have been given before the wish, and come behind it.
    if ((message.announced & bit) !== 0) message.wished |= bit;
    else this.wishes.push(new Wish(message, replica));
    this.grant();
  }

  private grant(): boolean {
    let moved = false;
    while (this.wishes.length > 0) {
      const { message, dest, sequence, replica } = this.wishes[0]!;
      const isIt = !message.isOver && message.dest === dest && message.sequence === sequence;
      const isWanted = isIt && this.membership.isAlive(dest, replica);
      const bit = 1 << replica;
      // It may have been announced since: two announcements would have two answers.
      if (isWanted && (message.announced & bit) !== 0) message.wished |= bit;
      else if (isWanted && (message.has & bit) === 0 && !this.transmit(message, replica)) break;
      this.wishes.shift();
      moved = true;
    }
    return moved;
  }

  override get isBusy(): boolean {
    return this.wishes.length > 0 || super.isBusy;
  }

  override progress(): boolean {
    const granted = this.grant();
    return super.progress() || granted;
  }

  override begin(place: ProcessName, isMoved: boolean): void {
    this.wishes.length = 0;
    super.begin(place, isMoved);
  }

  /** All replicas of a receiver get messages of all worlds, so there is no ANY_SOURCE that could take one too early. */
  override get hasGates(): boolean {
    return false;
  }
}

saves({ Wish });
lives({ MirrorSends });
