import { deepEqual, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { Arrival, type KeptMessage, Went } from "../../../request/decisions.ts";
import { Records } from "../../../request/records.ts";
import { SEQUENCE, SOURCE } from "../../../wire/packet.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import { newNoPass } from "../../testing/no-pass.ts";
import { FromMemory, noEntry } from "../frames.ts";
import { DirectEnd } from "../testing/direct-end.ts";
import { ModelMemory } from "../testing/model-memory.ts";
import { smallLimits } from "../testing/tested-memory.ts";
import { Deliveries } from "./deliveries.ts";
import { PostBox } from "./post-box.ts";

/** The deliveries of rank 0, whose engine lacks the bytes of some messages. */
class Tested {
  readonly sent: KeptMessage[] = [];
  readonly broken = new Set<number>();
  readonly deliveries: Deliveries;

  constructor() {
    const memory = new ModelMemory();
    const none = (): never[] => [];
    const ports: ProtocolPorts = {
      rank: 0,
      ranks: 2,
      records: new Records(),
      memory,
      pass: newNoPass(),
      transmit: (message) => {
        this.sent.push(message);
        return Went.WHOLE;
      },
      transmitNow: () => false,
      isEager: () => true,
      shares: () => false,
      complete: () => {},
      tell: () => {},
      toldBytesMax: () => 0,
      toldBytes: () => new Uint8Array(0),
      place: () => {},
      route: () => {},
      peerLost: () => {},
      peerBack: () => {},
      pinPosted: () => {},
      pinWaiting: () => {},
      isBroken: (_source, sequence) => this.broken.has(sequence),
      brokenFrom: none,
      incompleteFrom: none,
      becomes: () => {},
      forEachOpen: () => {},
      letIn: () => {},
      spoil: () => {},
      revoked: () => {},
    };
    const confirmed = (): void => {};
    const home = new PostBox(
      new DirectEnd(0, 0),
      { ...smallLimits, isHome: true },
      { memory, isStable: () => true, confirmed },
    );
    this.deliveries = new Deliveries(ports, { home, taken: () => {} });
  }

  deliver(entry: number, sequence: number): void {
    const facts = [entry, 1, sequence, 2, 0, 0, 0];
    ok(this.deliveries.deliver(Int32Array.of(facts.length + 2, FromMemory.MESSAGE, ...facts)));
  }

  /** The oldest packet that was sent arrives in the engine. */
  arrive(): Arrival {
    const packet = new Int32Array(8);
    packet[SOURCE] = 1;
    packet[SEQUENCE] = this.sent[this.sent.length - 1]!.sequence;
    const arrival = this.deliveries.arrived(packet, 0);
    if (arrival === Arrival.AGAIN) this.broken.delete(packet[SEQUENCE]!);
    return arrival;
  }
}

describe("messages on their way into the engine", () => {
  it("V6: a message without its bytes comes once more once, however often its home memory is told that it is wanted", () => {
    const tested = new Tested();
    tested.broken.add(7);
    tested.deliver(noEntry, 7);
    tested.deliver(noEntry, 7);
    deepEqual([tested.sent.length, tested.arrive()], [1, Arrival.AGAIN]);
    tested.deliver(noEntry, 7);
    deepEqual(tested.sent.length, 1);
  });

  it("V5: the position of an image is before what has not arrived in the engine, though it was sent there", () => {
    const tested = new Tested();
    tested.deliver(0, 0);
    deepEqual([tested.deliveries.position, tested.arrive(), tested.deliveries.position], [0, Arrival.TAKE, 1]);
    tested.deliver(0, 0);
    deepEqual(tested.sent.length, 1, "an entry that is here comes once");
  });
});
