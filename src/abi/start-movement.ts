/** Starts of the collectives that only move data: MPI 5.0 §6.3 to §6.8. What comes before a start is done once. */
import type { Pointer } from "../core/base/brand.ts";
import { PROC_NULL } from "../core/base/constants.ts";
import { equalBlocks } from "../core/coll/rounds.ts";
import { packedBytes } from "./buffers.ts";
import {
  type Given,
  isInPlace,
  isRoot,
  itemsOf,
  type Layout,
  partsOf,
  type Start,
  type TypedLayout,
  typedPartsOf,
} from "./collective-arguments.ts";
import type { CCommunicator } from "./objects.ts";
import type { Program } from "./program.ts";
import { type Items, Settle, Side } from "./side.ts";

const nowhere = 0 as Pointer;

export function movement(program: Program) {
  const { collectives } = program.process;

  const barrier =
    ({ core }: CCommunicator): Start =>
    (request, tag) => {
      request.record = collectives.startEqual(core, "barrier", nowhere, nowhere, { tag });
    };

  function bcast(comm: CCommunicator, data: Given, root: number): Start {
    const { core } = comm;
    const holds = isRoot(comm, root);
    const items = root === PROC_NULL ? null : itemsOf(program, data);
    return (request, tag) => {
      const side = Side.of(program, items, holds);
      request.after = holds ? new Settle(side, Side.nothing) : new Settle(Side.nothing, side);
      const call = { bytes: side.bytes, root, tag };
      request.record = collectives.startEqual(core, "bcast", nowhere, side.pointer, call);
    };
  }

  function gather(comm: CCommunicator, data: Given, into: Given, root: number): Start {
    const { core } = comm;
    const atRoot = isRoot(comm, root);
    const inPlace = atRoot && isInPlace(comm, data.address);
    const sends = core.isInter ? root >= 0 : !inPlace;
    const from = sends ? itemsOf(program, data) : null;
    const to = atRoot ? all(into, core.peers.size) : null;
    return (request, tag) => {
      const sent = Side.of(program, from, true);
      const received = Side.of(program, to, inPlace);
      request.after = new Settle(sent, received);
      const bytes = sends ? sent.bytes : received.bytes / core.peers.size;
      const call = { bytes, root, inPlace, tag };
      request.record = collectives.startEqual(core, "gather", sent.pointer, received.pointer, call);
    };
  }

  function gatherv(comm: CCommunicator, data: Given, into: Given, layout: Layout, root: number): Start {
    const { core } = comm;
    const atRoot = isRoot(comm, root);
    const inPlace = atRoot && isInPlace(comm, data.address);
    const sends = core.isInter ? root >= 0 : !inPlace;
    const from = sends ? itemsOf(program, data) : null;
    const to = atRoot ? partsOf(program, into, layout, core.peers.size) : null;
    return (request, tag) => {
      const sent = Side.of(program, from, true);
      const received = Side.ofParts(program, to, inPlace);
      request.after = new Settle(sent, received);
      const blocks = atRoot ? received.blocks : undefined;
      const collective = { kind: "gatherv", ...core.place, root, bytes: sent.bytes, blocks, inPlace } as const;
      request.record = collectives.start(core, collective, sent.pointer, received.pointer, null, tag);
    };
  }

  function scatter(comm: CCommunicator, data: Given, into: Given, root: number): Start {
    const { core } = comm;
    const atRoot = isRoot(comm, root);
    const inPlace = atRoot && isInPlace(comm, into.address);
    const takes = core.isInter ? root >= 0 : !inPlace;
    const from = atRoot ? all(data, core.peers.size) : null;
    const to = takes ? itemsOf(program, into) : null;
    return (request, tag) => {
      const sent = Side.of(program, from, true);
      const received = Side.of(program, to, false);
      request.after = new Settle(sent, received);
      const bytes = takes ? received.bytes : sent.bytes / core.peers.size;
      const call = { bytes, root, inPlace, tag };
      request.record = collectives.startEqual(core, "scatter", sent.pointer, received.pointer, call);
    };
  }

  function scatterv(comm: CCommunicator, data: Given, layout: Layout, into: Given, root: number): Start {
    const { core } = comm;
    const atRoot = isRoot(comm, root);
    const inPlace = atRoot && isInPlace(comm, into.address);
    const takes = core.isInter ? root >= 0 : !inPlace;
    const from = atRoot ? partsOf(program, data, layout, core.peers.size) : null;
    const to = takes ? itemsOf(program, into) : null;
    return (request, tag) => {
      const sent = Side.ofParts(program, from, true);
      const received = Side.of(program, to, false);
      request.after = new Settle(sent, received);
      const blocks = atRoot ? sent.blocks : undefined;
      const collective = { kind: "scatterv", ...core.place, root, bytes: received.bytes, blocks, inPlace } as const;
      request.record = collectives.start(core, collective, sent.pointer, received.pointer, null, tag);
    };
  }

  function allgather(comm: CCommunicator, data: Given, into: Given): Start {
    const { core } = comm;
    const inPlace = isInPlace(comm, data.address);
    const from = inPlace ? null : itemsOf(program, data);
    const to = all(into, core.peers.size);
    return (request, tag) => {
      const sent = Side.of(program, from, true);
      const received = Side.of(program, to, inPlace);
      request.after = new Settle(sent, received);
      if (core.isInter) {
        const blocks = equalBlocks(core.peers.size, received.bytes / core.peers.size);
        const collective = { kind: "allgatherv", ...core.place, bytes: sent.bytes, blocks } as const;
        request.record = collectives.start(core, collective, sent.pointer, received.pointer, null, tag);
        return;
      }
      const call = { bytes: received.bytes / core.size, inPlace, tag };
      request.record = collectives.startEqual(core, "allgather", sent.pointer, received.pointer, call);
    };
  }

  function allgatherv(comm: CCommunicator, data: Given, into: Given, layout: Layout): Start {
    const { core } = comm;
    const inPlace = isInPlace(comm, data.address);
    const from = inPlace ? null : itemsOf(program, data);
    const to = partsOf(program, into, layout, core.peers.size);
    return (request, tag) => {
      const sent = Side.of(program, from, true);
      const received = Side.ofParts(program, to, inPlace);
      request.after = new Settle(sent, received);
      const { blocks, pointer } = received;
      const shape = { kind: "allgatherv", ...core.place, nodes: core.nodeMap } as const;
      const collective = { ...shape, bytes: sent.bytes, blocks, inPlace };
      request.record = collectives.start(core, collective, sent.pointer, pointer, null, tag);
    };
  }

  function alltoall(comm: CCommunicator, data: Given, into: Given): Start {
    const { core } = comm;
    const inPlace = isInPlace(comm, data.address);
    const { size } = core.peers;
    const from = inPlace ? null : all(data, size);
    const to = all(into, size);
    return (request, tag) => {
      const sent = Side.of(program, from, true);
      const received = Side.of(program, to, inPlace);
      request.after = new Settle(sent, received);
      if (core.isInter) {
        const sends = equalBlocks(size, sent.bytes / size);
        const receives = equalBlocks(size, received.bytes / size);
        const collective = { kind: "alltoallv", ...core.place, sends, receives } as const;
        request.record = collectives.start(core, collective, sent.pointer, received.pointer, null, tag);
        return;
      }
      const call = { bytes: received.bytes / size, inPlace, tag };
      request.record = collectives.startEqual(core, "alltoall", sent.pointer, received.pointer, call);
    };
  }

  /** The v and w forms: parts of any length and type for each peer; null in place. */
  const exchange =
    ({ core }: CCommunicator, from: readonly Items[] | null, to: readonly Items[]): Start =>
    (request, tag) => {
      const inPlace = from === null;
      const sent = Side.ofParts(program, from, true);
      const received = Side.ofParts(program, to, inPlace);
      request.after = new Settle(sent, received);
      const sends = inPlace ? received.blocks : sent.blocks;
      const collective = { kind: "alltoallv", ...core.place, sends, receives: received.blocks, inPlace } as const;
      request.record = collectives.start(core, collective, sent.pointer, received.pointer, null, tag);
    };

  function alltoallv(comm: CCommunicator, data: Given, layout: Layout, into: Given, intoLayout: Layout): Start {
    const { size } = comm.core.peers;
    const from = isInPlace(comm, data.address) ? null : partsOf(program, data, layout, size);
    return exchange(comm, from, partsOf(program, into, intoLayout, size));
  }

  function alltoallw(comm: CCommunicator, data: TypedLayout, into: TypedLayout): Start {
    const { size } = comm.core.peers;
    const from = isInPlace(comm, data.address) ? null : typedPartsOf(program, data, size);
    return exchange(comm, from, typedPartsOf(program, into, size));
  }

  /** A part for each of `peers`, side by side. */
  function all(given: Given, peers: number): Items {
    const items = itemsOf(program, given);
    packedBytes(items.type, items.count * peers);
    return { ...items, count: items.count * peers };
  }

  return { barrier, bcast, gather, gatherv, scatter, scatterv, allgather, allgatherv, alltoall, alltoallv, alltoallw };
}
