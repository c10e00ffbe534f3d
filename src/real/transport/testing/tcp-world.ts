/**
 * For the tests of this folder: some nodes, each with its host, in one thread, connected by real sockets. Connections need
 * turns of the event loop, so tests wait with `until`, which also lets every rank look at its sockets.
 */
import type { Identity } from "../../../core/base/identity.ts";
import { BYTES, CONTEXT, KIND, kindOf, PAYLOAD, SOURCE, TAG } from "../../../core/wire/packet.ts";
import { KoffiCalls } from "../sockets/koffi-calls.ts";
import { scratchBytes } from "../sockets/socket-calls.ts";
import { WasiCalls } from "../sockets/wasi-calls.ts";
import { type TcpEvent, TcpHost } from "../tcp/tcp-host.ts";
import { TcpTransport } from "../tcp/tcp-transport.ts";
import { PlainMemory } from "./plain-memory.ts";

export type CallsName = "koffi" | "wasi";
export const callsNames: readonly CallsName[] = ["koffi", "wasi"];

export interface Arrival {
  readonly kind: number;
  readonly source: number;
  readonly context: number;
  readonly tag: number;
  readonly bytes: number;
  /** A copy; empty when there is no payload. */
  readonly payload: Uint8Array;
}

export class TcpRank {
  readonly rank: number;
  readonly memory = new PlainMemory(32);
  readonly transport: TcpTransport;
  readonly arrivals: Arrival[] = [];
  /** Looks at nothing while this is set, like a rank that computes. */
  isBusy = false;

  constructor(rank: number, ranks: number, host: TcpHost, calls: CallsName, identity?: Identity) {
    const { memory } = this;
    this.rank = rank;
    this.transport = new TcpTransport({
      rank,
      ranks,
      process: 0,
      memory,
      handover: host.handover,
      ...(identity === undefined ? {} : { identity }),
      sizesOf: () => ({ eagerBytesMax: 64 * 1024, outBytes: 256 * 1024 }),
      tell: (request) => host.handle(request),
      openCalls: () => {
        const options = { memory: memory.shared, scratch: memory.allocate(scratchBytes) };
        return calls === "koffi" ? new KoffiCalls(options) : new WasiCalls(options);
      },
    });
  }

  send(to: number, tag: number, payload: Uint8Array = new Uint8Array(0)): boolean {
    const { transport, memory } = this;
    const packet = transport.reserve(to, payload.length);
    if (packet < 0) return false;
    const { words } = transport;
    words[packet + KIND] = 1;
    words[packet + CONTEXT] = 0;
    words[packet + TAG] = tag;
    words[packet + BYTES] = payload.length;
    if (payload.length > 0) memory.bytes.set(payload, transport.payload);
    transport.commit(to);
    return true;
  }

  look(): void {
    if (this.isBusy) return;
    const { transport, memory } = this;
    for (let left = 64; left > 0; left--) {
      const packet = transport.peek();
      if (packet < 0) return;
      const { words } = transport;
      const bytes = words[packet + BYTES]!;
      const at = words[packet + PAYLOAD]!;
      this.arrivals.push({
        kind: kindOf(words[packet + KIND]!),
        source: words[packet + SOURCE]!,
        context: words[packet + CONTEXT]!,
        tag: words[packet + TAG]!,
        bytes,
        payload: at === 0 ? new Uint8Array(0) : memory.bytes.slice(at, at + bytes),
      });
      transport.release();
    }
  }
}

export interface TcpWorld {
  readonly ranks: readonly TcpRank[];
  readonly hosts: readonly TcpHost[];
  readonly events: readonly TcpEvent[];
  /** A new life of that rank on a new node takes its place here. The old ones stay as they are; nobody is told. */
  restart(rank: number): Promise<void>;
  /** The host of that node hears that a rank lives again. */
  tellReturn(node: number, rank: number): void;
  /** Turns of the event loop, every rank looking, until it is true; an error after 10 s. */
  until(what: () => boolean): Promise<void>;
  close(): void;
}

export const testJob = { id: "test job", secret: Uint8Array.from({ length: 32 }, (_, i) => i * 5) };

/** One rank a node. Ranks above `nodes`, up to `ranksOfJob`, are in other processes: the test sets the address book. */
export async function newTcpWorld(
  nodes: number,
  calls: CallsName,
  ranksOfJob = nodes,
  identities: readonly Identity[] = [],
): Promise<TcpWorld> {
  const events: TcpEvent[] = [];
  const incarnations = new Array<number>(ranksOfJob).fill(0);
  const everybody: { close(): void }[] = [];
  const newHost = async (node: number): Promise<TcpHost> => {
    const report = (event: TcpEvent) => events.push(event);
    const places = { ranks: ranksOfJob, ranksHere: [node], incarnations };
    const host = new TcpHost({ job: testJob, ...places, ring: () => {}, report });
    const listening = await host.listen();
    if (!listening.ok) throw new Error(listening.reason);
    everybody.push(host);
    return host;
  };
  const newRank = (rank: number, host: TcpHost): TcpRank => {
    const made = new TcpRank(rank, ranksOfJob, host, calls, identities[rank]);
    everybody.unshift(made.transport);
    return made;
  };
  const hosts: TcpHost[] = [];
  for (let node = 0; node < nodes; node++) hosts.push(await newHost(node));
  const addressOf = (host: TcpHost) => ({ host: "127.0.0.1", port: host.port });
  const book = hosts.map(addressOf);
  if (ranksOfJob === nodes) for (const host of hosts) host.setAddressBook(book);
  const ranks = hosts.map((host, rank) => newRank(rank, host));
  return {
    ranks,
    hosts,
    events,
    async restart(rank) {
      incarnations[rank]!++;
      const host = await newHost(rank);
      hosts[rank] = host;
      host.setAddressBook(hosts.map(addressOf));
      ranks[rank] = newRank(rank, host);
    },
    tellReturn(node, rank) {
      hosts[node]!.setAddressBook(hosts.map(addressOf));
      hosts[node]!.peerReturned(rank, incarnations[rank]!);
    },
    async until(what) {
      const end = Date.now() + 10_000;
      for (;;) {
        for (const rank of ranks) rank.look();
        if (what()) return;
        if (Date.now() > end) throw new Error(`not in 10 s: ${what}`);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    // Ranks first: descriptors are theirs until they say otherwise.
    close() {
      for (const one of everybody) one.close();
    },
  };
}
