/** The other processes on whose behalf this one sends. `R_SENDER` of a record counts them from 1; 0 is this process itself. */
import type { Identity } from "../base/identity.ts";
import { lives } from "../base/saved-classes.ts";
import { type Sender, senderOf } from "../wire/packet.ts";

export class Senders {
  /** As many as this process has ever sent for. */
  private readonly all: Sender[] = [];

  /** `R_SENDER` for packets on behalf of that process; null: this one. */
  numberOf(from: Identity | null): number {
    if (from === null) return 0;
    const { rank, bits } = senderOf(from);
    const known = this.all.findIndex((sender) => sender.rank === rank && sender.bits === bits);
    return known >= 0 ? known + 1 : this.all.push({ rank, bits });
  }

  /** The sender that a packet names; undefined: this process. */
  of(number: number): Sender | undefined {
    return number === 0 ? undefined : this.all[number - 1];
  }
}

lives({ Senders });
