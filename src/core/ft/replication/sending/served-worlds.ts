/**
 * The worlds that this process sends to: its own, and those of dead replicas of its rank whose substitute it is, until they are back. What the other replicas
 * of its rank must know of its sends they are told when there are others, or new ones.
 */
import type { ProcessName } from "../../../base/identity.ts";
import { lives } from "../../../base/saved-classes.ts";
import type { Membership } from "../membership.ts";
import type { WorldGates } from "../world-gates.ts";
import type { WorldNotices } from "../world-notices.ts";
import type { SendChannels } from "./send-channels.ts";

export interface WorldsParts {
  readonly place: ProcessName;
  readonly membership: Membership;
  readonly channels: SendChannels;
  readonly gates: WorldGates;
  readonly notices: WorldNotices;
  /** Do messages for a world that is behind wait for it? */
  readonly hasGates: boolean;
}

interface ServedWorldsParts extends WorldsParts {
  /** Every replica sends to all worlds, whoever lives. */
  readonly servesAll: boolean;
}

export class ServedWorlds {
  private place: ProcessName;
  private readonly membership: Membership;
  private readonly channels: SendChannels;
  private readonly gates: WorldGates;
  private readonly notices: WorldNotices;
  private readonly hasGates: boolean;
  private readonly servesAll: boolean;
  /** Bits. */
  worlds = 0;
  /** Bits: those that it leaves to a replica of its rank which is being made. */
  private heldBack = 0;
  /** Bits: those of `worlds` that it was not sending to from the start. */
  private inherited = 0;

  constructor({ place, membership, channels, gates, notices, hasGates, servesAll }: ServedWorldsParts) {
    this.place = place;
    this.membership = membership;
    this.channels = channels;
    this.gates = gates;
    this.notices = notices;
    this.hasGates = hasGates;
    this.servesAll = servesAll;
    this.set();
  }

  private set(): void {
    const { membership, place } = this;
    const now = this.servesAll ? (1 << membership.replicas) - 1 : membership.worldsOf(place.rank, place.replica);
    this.worlds = now & ~this.heldBack;
    this.notices.worlds = this.worlds;
  }

  /** A replica of our own rank is dead: this process may be the substitute for more worlds now, and sends what was not acknowledged there. */
  lost(replica: number): void {
    const { worlds } = this;
    this.heldBack &= ~(1 << replica);
    this.set();
    const added = this.worlds & ~worlds;
    this.inherited |= added;
    if (added === 0) return;
    for (const channel of this.channels.all) {
      this.channels.sendAgain(channel, added);
      if (this.hasGates) this.notices.inherited(channel, added);
    }
  }

  /**
   * A replica of our own rank is being made: whatever it can do itself it will do. Its world must not go on without it: the clone would get
   * messages there which depend on what it has not sent yet.
   */
  holdBack(replica: number): void {
    if (!this.hasGates) return;
    this.heldBack |= 1 << replica;
    this.shrink();
  }

  /** A replica of our own rank is back, and sends to its world itself. */
  resign(replica: number): void {
    this.heldBack &= ~(1 << replica);
    this.shrink();
    this.tellEverything();
  }

  private shrink(): void {
    const { worlds } = this;
    this.set();
    this.inherited &= this.worlds;
    this.gates.leave(worlds & ~this.worlds);
    this.notices.resign();
  }

  /** This process is there, as a clone; or another replica of our rank is, and may have missed what it was told. */
  tellEverything(): void {
    if (this.hasGates) this.notices.tellEverything(this.channels.all);
  }

  /** This process is a clone, or has gone on elsewhere. */
  begin(place: ProcessName, isMoved: boolean): void {
    this.place = place;
    this.heldBack = 0;
    this.set();
    this.inherited = isMoved ? this.inherited & this.worlds : 0;
  }

  /** The dead replicas of our own rank whose worlds this process sends to; those that never were there are none. */
  get stoodInFor(): number[] {
    const others: number[] = [];
    for (let world = 0; this.worlds >>> world !== 0; world++) {
      if ((this.inherited & (1 << world)) !== 0) others.push(world);
    }
    return others;
  }
}

lives({ ServedWorlds });
