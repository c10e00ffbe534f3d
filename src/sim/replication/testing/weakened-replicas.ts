/** Replicas that leave out one part of the return of a lost one (core/ft/replication/revival.ts), to see what it is good for. */
import type { ProtocolPorts } from "../../../core/ft/protocol.ts";
import { type ReplicationOptions, ReplicationProtocol } from "../../../core/ft/replication/replication-protocol.ts";
import { RevivalWord } from "../../../core/ft/replication/revival-words.ts";

/** The parts of a protocol, whatever they keep to themselves. */
type Part = Record<string, (...all: unknown[]) => unknown>;
interface Parts {
  readonly revival: Part & { readonly source: Part };
  readonly sends: Part & { readonly receivers: Part & { readonly channels: Part } };
  readonly acknowledgements: Part;
  readonly membership: Part;
}

type Make = (options: ReplicationOptions, ports: ProtocolPorts) => ReplicationProtocol;

/** No image holds what is put in the place of a method so. */
function put(part: object, name: string, value: unknown): void {
  Object.defineProperty(part, name, { value, enumerable: false, configurable: true });
}

function weakened(change: (parts: Parts) => void): Make {
  return (options, ports) => {
    const replica = new ReplicationProtocol(options, ports);
    change(replica as unknown as Parts);
    return replica;
  };
}

/** Says nothing of that kind. */
const without = (...kinds: number[]): Make =>
  weakened(({ revival }) => {
    const tell = revival["tell"]!.bind(revival);
    put(revival, "tell", (to: unknown, kind: number, b: number, c: number) => {
      if (!kinds.includes(kind)) tell(to, kind, b, c);
    });
  });

export const weakenedReplicas: Readonly<Record<string, Make>> = {
  "the wait until everybody keeps what the clone will lack": weakened(({ revival: { source } }) => {
    Object.defineProperty(source, "isPrepared", { get: () => source["isAsked"], configurable: true });
  }),
  "an image that counts as sent what is confirmed alone": weakened(({ sends }) => {
    Object.defineProperty(sends, "isConfirming", { get: () => false, set: () => {}, configurable: true });
  }),
  "the wait until nobody sends in the clone's place": weakened(({ revival }) => {
    const welcome = revival["welcome"]!.bind(revival);
    put(revival, "welcome", (returning: { unaware: number }) => {
      returning.unaware = 0;
      welcome(returning);
    });
  }),
  "the word that a message is being taken from another": without(RevivalWord.ELSEWHERE),
  "the question for it when that one is dead": without(RevivalWord.AGAIN),
  "what others hold, for the clone": without(RevivalWord.BELOW),
  "the past of the replica that is made anew is forgotten": weakened(({ sends: { receivers } }) => {
    const expect = receivers["expect"]!.bind(receivers);
    put(receivers, "expect", (name: { rank: number; replica: number }, source: number) => {
      const channel = receivers.channels["to"]!(name.rank) as { renew: () => void };
      put(channel, "renew", () => {});
      expect(name, source);
    });
  }),
};
