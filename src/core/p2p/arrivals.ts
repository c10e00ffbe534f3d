/** What has arrived, packet by packet: one `switch` over the kinds, the work is done by the parts of the engine. */
import { assert } from "../base/assert.ts";
import { KIND, kindOf, PacketKind, SOURCE } from "../wire/packet.ts";
import type { Transport } from "../wire/transport.ts";
import type { EngineHooks, EnginePorts } from "./engine-ports.ts";
import type { Matching } from "./matching.ts";
import type { Outbox } from "./outbox.ts";
import type { Transfers } from "./transfers.ts";

export interface ArrivalsParts {
  readonly outbox: Outbox;
  readonly transfers: Transfers;
  readonly matching: Matching;
  /** Ranks that are dead. */
  readonly failed: Uint8Array;
}

export class Arrivals {
  readonly #transport: Transport;
  readonly #hooks: EngineHooks | null;
  readonly #outbox: Outbox;
  readonly #transfers: Transfers;
  readonly #matching: Matching;
  readonly #failed: Uint8Array;

  constructor({ transport, hooks }: EnginePorts, parts: ArrivalsParts) {
    this.#transport = transport;
    this.#hooks = hooks;
    this.#outbox = parts.outbox;
    this.#transfers = parts.transfers;
    this.#matching = parts.matching;
    this.#failed = parts.failed;
  }

  /** Takes up to that many packets; false when there was none. */
  takeAll(packetsMax: number): boolean {
    const transport = this.#transport;
    for (let taken = 0; taken < packetsMax; taken++) {
      const packet = transport.peek();
      if (packet < 0) return taken !== 0;
      this.take(packet);
      transport.release();
    }
    return true;
  }

  /** Handles one arrived packet; the caller releases it afterwards. */
  take(packet: number): void {
    const words = this.#transport.words;
    const kind = kindOf(words[packet + KIND]!);
    const source = words[packet + SOURCE]!;
    // What the dead still say comes too late: the requests it is about have failed, and their records may serve others.
    if (this.#failed[source] !== 0) return;
    switch (kind) {
      case PacketKind.EAGER:
      case PacketKind.RTS:
        this.#matching.takeMessage(packet, kind);
        return;
      case PacketKind.CTS:
        this.#transfers.takeClearToSend(packet);
        return;
      case PacketKind.FRAGMENT:
        this.#transfers.takeFragment(packet);
        return;
      case PacketKind.RELEASE:
        this.#transfers.takeRelease(packet);
        return;
      case PacketKind.FINISH:
        this.#transfers.takeFinish(packet);
        return;
      case PacketKind.HELP:
        this.#transfers.takeHelp(packet);
        return;
      case PacketKind.EAGER_CLOSE:
        this.#outbox.closeEager(source);
        return;
      case PacketKind.EAGER_OPEN:
        this.#outbox.openEager(source);
        return;
      case PacketKind.CANCEL:
        this.#matching.takeCancel(packet);
        return;
      case PacketKind.CANCEL_ANSWER:
        this.#transfers.takeCancelAnswer(packet);
        return;
      case PacketKind.PROTOCOL:
        if (this.#hooks !== null) this.#hooks.control(words, packet);
        return;
      case PacketKind.VOID:
        return;
      default:
        assert(false, `packet of unknown kind ${kind as number}`);
    }
  }
}
