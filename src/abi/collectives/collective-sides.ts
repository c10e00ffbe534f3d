/** The sides of a C program's collectives (core/binding/collective-side.ts): items at addresses of one memory. */
import type { Pointer } from "../../core/base/brand.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { bytesOf, type Ground, type Items, type Side, settle } from "../../core/binding/collective-side.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { pack, unpack } from "../../core/comm/datatype/pack.ts";
import type { Memory } from "../../core/request/memory.ts";
import { bufferBytes, startOf } from "../arguments/buffers.ts";
import type { After } from "../handles/objects.ts";
import type { Program } from "../program.ts";

/** Items, the origin of the first at `address`. Made by `itemsAt` alone, which checks them. Plain data. */
export interface CItems extends Items {
  readonly address: number;
}

export function itemsAt(program: Program, address: number, count: number, type: Datatype): CItems {
  bufferBytes(program, address, count, type);
  return { address, count, type };
}

/** The memory of a program. */
export class ProgramGround implements Ground<CItems> {
  readonly memory: Memory;

  constructor(memory: Memory) {
    this.memory = memory;
  }

  pointerTo(items: CItems): Pointer {
    return startOf(items.address, bytesOf(items), items.type);
  }

  pointerToAll(parts: readonly CItems[]): { pointer: Pointer; offsets: number[] } {
    const bytes = parts.map(bytesOf);
    const starts = parts.map(({ address, type }) => address + type.trueLb);
    // Empty parts may lie anywhere, also before the first byte of memory.
    const first = Math.max(0, Math.min(...starts.filter((_, peer) => bytes[peer]! > 0), 2 ** 31));
    const offsets = starts.map((start, peer) => (bytes[peer] === 0 ? 0 : start - first));
    return { pointer: (first === 2 ** 31 ? 0 : first) as Pointer, offsets };
  }

  pack({ type, count, address }: CItems, to: number): void {
    const { bytes } = this.memory;
    pack({ type, count, bytes, offset: address }, { bytes, offset: to });
  }

  unpack({ type, count, address }: CItems, from: number): void {
    const { bytes } = this.memory;
    unpack({ bytes, offset: from }, { type, count, bytes, offset: address });
  }
}

/** What is left to do after a collective. */
export class Settle implements After {
  private readonly sent: Side<CItems>;
  private readonly received: Side<CItems>;

  constructor(sent: Side<CItems>, received: Side<CItems>) {
    this.sent = sent;
    this.received = received;
  }

  finish({ ground }: Program, _bytes: number, error: number): void {
    settle(ground, this.sent, this.received, error);
  }
}

saves({ Settle });
