/** Starts of the collectives that only move data: MPI 5.0 §6.3 to §6.8. */
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
  typedPartsOf,
} from "./collective-arguments.ts";
import type { Program } from "./program.ts";
import { type Items, Settle, Side } from "./side.ts";

const nowhere = 0 as Pointer;

export function movement(program: Program) {
  const { collectives } = program.process;

  const barrier = (): Start => (request, tag) => {
    request.record = collectives.startEqual(request.comm.core, "barrier", nowhere, nowhere, { tag });
  };

  const bcast =
    (data: Given, root: number): Start =>
    (request, tag) => {
      const { comm } = request;
      const holds = isRoot(comm, root);
      const side = root === PROC_NULL ? Side.nothing : Side.of(program, itemsOf(program, data), holds);
      request.after = holds ? new Settle(side, Side.nothing) : new Settle(Side.nothing, side);
      const call = { bytes: side.bytes, root, tag };
      request.record = collectives.startEqual(comm.core, "bcast", nowhere, side.pointer, call);
    };

  const gather =
    (data: Given, into: Given, root: number): Start =>
    (request, tag) => {
      const { comm } = request;
      const { core } = comm;
      const atRoot = isRoot(comm, root);
      const inPlace = atRoot && isInPlace(comm, data.address);
      const sends = core.isInter ? root >= 0 : !inPlace;
      const sent = sends ? Side.of(program, itemsOf(program, data), true) : Side.nothing;
      const received = atRoot ? Side.of(program, all(into, core.peers.size), inPlace) : Side.nothing;
      request.after = new Settle(sent, received);
      const bytes = sends ? sent.bytes : atRoot ? received.bytes / core.peers.size : 0;
      const call = { bytes, root, inPlace, tag };
      request.record = collectives.startEqual(core, "gather", sent.pointer, received.pointer, call);
    };

  const gatherv =
    (data: Given, into: Given, layout: Layout, root: number): Start =>
    (request, tag) => {
      const { comm } = request;
      const { core } = comm;
      const atRoot = isRoot(comm, root);
      const inPlace = atRoot && isInPlace(comm, data.address);
      const sends = core.isInter ? root >= 0 : !inPlace;
      const sent = sends ? Side.of(program, itemsOf(program, data), true) : Side.nothing;
      const received = atRoot
        ? Side.ofParts(program, partsOf(program, into, layout, core.peers.size), inPlace)
        : Side.nothing;
      request.after = new Settle(sent, received);
      const blocks = atRoot ? received.blocks : undefined;
      const collective = { kind: "gatherv", ...core.place, root, bytes: sent.bytes, blocks, inPlace } as const;
      request.record = collectives.start(core, collective, sent.pointer, received.pointer, null, tag);
    };

  const scatter =
    (data: Given, into: Given, root: number): Start =>
    (request, tag) => {
      const { comm } = request;
      const { core } = comm;
      const atRoot = isRoot(comm, root);
      const inPlace = atRoot && isInPlace(comm, into.address);
      const takes = core.isInter ? root >= 0 : !inPlace;
      const sent = atRoot ? Side.of(program, all(data, core.peers.size), true) : Side.nothing;
      const received = takes ? Side.of(program, itemsOf(program, into), false) : Side.nothing;
      request.after = new Settle(sent, received);
      const bytes = takes ? received.bytes : atRoot ? sent.bytes / core.peers.size : 0;
      const call = { bytes, root, inPlace, tag };
      request.record = collectives.startEqual(core, "scatter", sent.pointer, received.pointer, call);
    };

  const scatterv =
    (data: Given, layout: Layout, into: Given, root: number): Start =>
    (request, tag) => {
      const { comm } = request;
      const { core } = comm;
      const atRoot = isRoot(comm, root);
      const inPlace = atRoot && isInPlace(comm, into.address);
      const takes = core.isInter ? root >= 0 : !inPlace;
      const sent = atRoot ? Side.ofParts(program, partsOf(program, data, layout, core.peers.size), true) : Side.nothing;
      const received = takes ? Side.of(program, itemsOf(program, into), false) : Side.nothing;
      request.after = new Settle(sent, received);
      const blocks = atRoot ? sent.blocks : undefined;
      const collective = { kind: "scatterv", ...core.place, root, bytes: received.bytes, blocks, inPlace } as const;
      request.record = collectives.start(core, collective, sent.pointer, received.pointer, null, tag);
    };

  const allgather =
    (data: Given, into: Given): Start =>
    (request, tag) => {
      const { comm } = request;
      const { core } = comm;
      const inPlace = isInPlace(comm, data.address);
      const sent = inPlace ? Side.nothing : Side.of(program, itemsOf(program, data), true);
      const received = Side.of(program, all(into, core.peers.size), inPlace);
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

  const allgatherv =
    (data: Given, into: Given, layout: Layout): Start =>
    (request, tag) => {
      const { comm } = request;
      const { core } = comm;
      const inPlace = isInPlace(comm, data.address);
      const sent = inPlace ? Side.nothing : Side.of(program, itemsOf(program, data), true);
      const received = Side.ofParts(program, partsOf(program, into, layout, core.peers.size), inPlace);
      request.after = new Settle(sent, received);
      const { blocks } = received;
      const collective = { kind: "allgatherv", ...core.place, bytes: sent.bytes, blocks, inPlace, nodes: core.nodeMap };
      const { pointer } = received;
      request.record = collectives.start(core, { ...collective, kind: "allgatherv" }, sent.pointer, pointer, null, tag);
    };

  const alltoall =
    (data: Given, into: Given): Start =>
    (request, tag) => {
      const { comm } = request;
      const { core } = comm;
      const inPlace = isInPlace(comm, data.address);
      const { size } = core.peers;
      const sent = inPlace ? Side.nothing : Side.of(program, all(data, size), true);
      const received = Side.of(program, all(into, size), inPlace);
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

  /** The v and w forms: parts of any length and type for each peer. */
  const exchange =
    (parts: (peers: number) => readonly Items[], intoParts: (peers: number) => readonly Items[], from: number): Start =>
    (request, tag) => {
      const { comm } = request;
      const { core } = comm;
      const inPlace = isInPlace(comm, from);
      const sent = inPlace ? Side.nothing : Side.ofParts(program, parts(core.peers.size), true);
      const received = Side.ofParts(program, intoParts(core.peers.size), inPlace);
      request.after = new Settle(sent, received);
      const sends = inPlace ? received.blocks : sent.blocks;
      const collective = { kind: "alltoallv", ...core.place, sends, receives: received.blocks, inPlace } as const;
      request.record = collectives.start(core, collective, sent.pointer, received.pointer, null, tag);
    };

  const alltoallv = (data: Given, layout: Layout, into: Given, intoLayout: Layout): Start =>
    exchange(
      (peers) => partsOf(program, data, layout, peers),
      (peers) => partsOf(program, into, intoLayout, peers),
      data.address,
    );

  const alltoallw = (
    from: number,
    layout: Layout,
    types: number,
    to: number,
    intoLayout: Layout,
    intoTypes: number,
  ): Start =>
    exchange(
      (peers) => typedPartsOf(program, from, layout, types, peers),
      (peers) => typedPartsOf(program, to, intoLayout, intoTypes, peers),
      from,
    );

  /** A part for each of `peers`, side by side. */
  function all(given: Given, peers: number): Items {
    const items = itemsOf(program, given);
    packedBytes(items.type, items.count * peers);
    return { ...items, count: items.count * peers };
  }

  return { barrier, bcast, gather, gatherv, scatter, scatterv, allgather, allgatherv, alltoall, alltoallv, alltoallw };
}
