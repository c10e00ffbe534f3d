/** D1: what each part of the comparison is good for: without it, the seeds find what goes wrong. */
import { ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { long } from "../../../test/long.ts";
import type { RecordId } from "../../core/base/brand.ts";
import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import { type ReplicationOptions, ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import { Arrival } from "../../core/request/decisions.ts";
import { R_PEER, R_SEQUENCE } from "../../core/request/records.ts";
import { runComparingSeed } from "./run-comparing-seed.ts";
import { runRevivalSeed } from "./run-revival-seed.ts";

/** The parts of a protocol, whatever they keep to themselves. */
type Part = Record<string, (...all: unknown[]) => unknown>;
interface Parts {
  readonly comparing: Part;
  readonly sends: { readonly receivers: Part };
}
type Make = (options: ReplicationOptions, ports: ProtocolPorts) => ReplicationProtocol;

/** No image holds what is put in the place of a method so. */
function put(part: object, name: string, value: unknown): void {
  Object.defineProperty(part, name, { value, enumerable: false, configurable: true });
}

function without(change: (parts: Parts, ports: ProtocolPorts, replica: ReplicationProtocol) => void): Make {
  return (options, ports) => {
    const replica = new ReplicationProtocol(options, ports);
    change(replica as unknown as Parts, ports, replica);
    return replica;
  };
}

const flipsFound: Readonly<Record<string, Make>> = {
  "the wait for votes": without(({ comparing }) => put(comparing, "arrived", () => Arrival.TAKE)),
  "bytes that are thrown away": without(({ comparing }) => {
    const mayCount = comparing["mayCount"]!.bind(comparing);
    put(comparing, "mayCount", (record: RecordId) => {
      mayCount(record);
      return true;
    });
  }),
  "acknowledgements behind the verdict": without(({ comparing }, { records }, replica) => {
    const putAside = comparing["putAside"]!.bind(comparing);
    put(comparing, "putAside", (envelope: RecordId) => {
      putAside(envelope);
      replica.held(records.get(envelope, R_PEER) as never, records.get(envelope, R_SEQUENCE));
    });
  }),
  "the news that a voter is dead": without(({ comparing }) => put(comparing, "died", () => {})),
  "the accusation": without(({ comparing }) => put(comparing, "suspect", () => {})),
};

/** The one that is left out in every run of the tests. */
const foundSoon = "the accusation";

const clonesFound: Readonly<Record<string, Make>> = {
  "votes that are told to a new receiver": without(({ sends: { receivers } }) => {
    const open = receivers["open"]!.bind(receivers);
    put(receivers, "open", (name: unknown) => {
      const { votes } = receivers as unknown as { votes: unknown };
      Object.assign(receivers, { votes: null });
      open(name);
      Object.assign(receivers, { votes });
    });
  }),
  "the excuse of a clone": without(({ comparing }) => put(comparing, "returned", () => {})),
};

const seedsOf = (most: number): number[] => Array.from({ length: most }, (_, i) => i + 1);

describe("D1 without a part of the comparison the seeds find what goes wrong", () => {
  for (const [part, makeReplica] of Object.entries(flipsFound)) {
    it(`D1 without ${part}`, part === foundSoon ? {} : long, () => {
      const found = seedsOf(400).some(
        (seed) => runComparingSeed({ seed, makeReplica, variant: "parallel", events: 10 }).violations.length > 0,
      );
      ok(found, `no seed needs ${part}`);
    });
  }
  for (const [part, makeReplica] of Object.entries(clonesFound)) {
    it(`D1 without ${part}`, long, () => {
      const found = seedsOf(600).some(
        (seed) =>
          runRevivalSeed({ seed, makeReplica, comparing: "hash", variant: "parallel", moves: false }).violations
            .length > 0,
      );
      ok(found, `no seed needs ${part}`);
    });
  }
});
