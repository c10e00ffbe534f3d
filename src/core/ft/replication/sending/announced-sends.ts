/** Messages that their receivers have been told of, and have not taken yet. */
import type { ProcessName } from "../../../base/identity.ts";
import { lives, saves } from "../../../base/saved-classes.ts";
import type { MessageFlips } from "../comparing/message-flips.ts";
import type { KeptSend } from "./kept-send.ts";

class AnnouncedSend {
  readonly message: KeptSend;
  readonly replica: number;

  constructor(message: KeptSend, replica: number) {
    this.message = message;
    this.replica = replica;
  }
}

export class AnnouncedSends {
  private readonly flips: MessageFlips | null;
  /** By the number that the engine's records name them by. */
  private readonly byKeeper = new Map<number, AnnouncedSend>();
  /** The number of the next one. */
  keeper = 0;

  /** `flips`: hears when an announcement is over; null: no bit of a message flips. */
  constructor(flips: MessageFlips | null) {
    this.flips = flips;
  }

  /** It has been announced to that replica of its receiver, under the next number. */
  add(message: KeptSend, replica: number): void {
    const { keeper } = this;
    message.announced |= 1 << replica;
    this.byKeeper.set(keeper, new AnnouncedSend(message, replica));
    this.keeper = (keeper + 1) | 0;
  }

  /** Its receiver has answered. Undefined: of one that was forgotten. */
  answered(keeper: number): AnnouncedSend | undefined {
    const announced = this.byKeeper.get(keeper);
    if (announced !== undefined) this.end(keeper, announced);
    return announced;
  }

  /** A receiver will not answer. */
  forget({ rank, replica }: ProcessName): void {
    for (const [keeper, announced] of this.byKeeper) {
      if (announced.message.dest === rank && announced.replica === replica) this.end(keeper, announced);
    }
  }

  private end(keeper: number, { message, replica }: AnnouncedSend): void {
    this.byKeeper.delete(keeper);
    this.flips?.over(message);
    message.announced &= ~(1 << replica);
  }

  /** This process is a clone: nothing is on its way from it. */
  begin(): void {
    this.byKeeper.clear();
  }
}

saves({ AnnouncedSend });
lives({ AnnouncedSends });
