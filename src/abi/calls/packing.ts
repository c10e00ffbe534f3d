/** Packing: MPI 5.0 §5.2 and §5.3. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { checkCount } from "../../core/binding/checks.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { pack, packSize, unpack } from "../../core/comm/datatype/pack.ts";
import {
  checkDatarep,
  packExternal,
  packExternalSize,
  unpackExternal,
} from "../../core/comm/datatype/pack-external.ts";
import { bufferBytes } from "../arguments/buffers.ts";
import { type Counts, countMax, largeCounts, smallCounts } from "../arguments/counts.ts";
import type { Call } from "../call-table.ts";
import type { Program } from "../program.ts";

type Count = number | bigint;

export function packingCalls(program: Program): Record<string, Call> {
  const { bytes } = program;

  /** The packed buffer, from `position` on free, or full; nothing beyond its end is touched. */
  function bufferOf(address: number, size: number, position: number): Uint8Array {
    if (size >= 0 && position >= 0 && position <= size) {
      return bytes.subarray(address, address + size);
    }
    const wanted = "positions are from 0 to its size";
    throw new MpiError(
      ErrorClass.ARG,
      `Cannot use position ${position} of a packed buffer of ${size} bytes: ${wanted}`,
    );
  }

  /** The packed bytes of any number of items, exactly. */
  function bytesOf(item: number, count: Count): bigint {
    checkCount(Number(count));
    const bytes = BigInt(item) * BigInt(count);
    if (bytes <= countMax) return bytes;
    const state = `they have ${bytes} bytes, and no count is larger than 2^63 - 1`;
    throw new MpiError(ErrorClass.VALUE_TOO_LARGE, `Cannot pack ${count} items: ${state}`);
  }

  function forms({ suffix, of, at, put }: Counts): Record<string, Call> {
    interface Given {
      readonly count: Count;
      readonly type: number;
      /** Address of the items. */
      readonly items: number;
      /** Address and size of the packed buffer, and the address of the position in it. */
      readonly packed: number;
      readonly size: Count;
      readonly position: number;
    }

    /** `move` packs or unpacks at the position, which moves on by as many bytes. */
    function moved(
      given: Given,
      move: (type: Datatype, count: number, packed: Uint8Array, position: number) => number,
    ): number {
      const [count, position] = [of(given.count), at(given.position)];
      checkCount(count);
      const buffer = bufferOf(given.packed, of(given.size), position);
      const type = program.committed(given.type);
      bufferBytes(program, given.items, count, type);
      put(given.position, position + move(type, count, buffer, position));
      return 0;
    }

    return {
      [`MPI_Pack${suffix}`]: (
        from: number,
        count: Count,
        type: number,
        packed: number,
        size: Count,
        position: number,
        comm: number,
      ) => {
        program.comm(comm);
        return moved({ items: from, count, type, packed, size, position }, (core, items, to, start) =>
          pack({ type: core, count: items, bytes, offset: from }, { bytes: to, offset: start }),
        );
      },
      [`MPI_Unpack${suffix}`]: (
        packed: number,
        size: Count,
        position: number,
        to: number,
        count: Count,
        type: number,
        comm: number,
      ) => {
        program.comm(comm);
        return moved({ items: to, count, type, packed, size, position }, (core, items, from, start) =>
          unpack({ bytes: from, offset: start }, { type: core, count: items, bytes, offset: to }),
        );
      },
      [`MPI_Pack_size${suffix}`]: (count: Count, type: number, comm: number, out: number) => {
        program.comm(comm);
        put(out, bytesOf(packSize(program.committed(type), 1), count));
        return 0;
      },
      [`MPI_Pack_external${suffix}`]: (
        datarep: number,
        from: number,
        count: Count,
        type: number,
        packed: number,
        size: Count,
        position: number,
      ) => {
        checkDatarep(program.text(datarep));
        return moved({ items: from, count, type, packed, size, position }, (core, items, to, start) =>
          packExternal({ type: core, count: items, bytes, offset: from }, { bytes: to, offset: start }),
        );
      },
      [`MPI_Unpack_external${suffix}`]: (
        datarep: number,
        packed: number,
        size: Count,
        position: number,
        to: number,
        count: Count,
        type: number,
      ) => {
        checkDatarep(program.text(datarep));
        return moved({ items: to, count, type, packed, size, position }, (core, items, from, start) =>
          unpackExternal({ bytes: from, offset: start }, { type: core, count: items, bytes, offset: to }),
        );
      },
      [`MPI_Pack_external_size${suffix}`]: (datarep: number, count: Count, type: number, out: number) => {
        checkDatarep(program.text(datarep));
        put(out, bytesOf(packExternalSize(program.committed(type), 1), count));
        return 0;
      },
    };
  }

  return { ...forms(smallCounts(program)), ...forms(largeCounts(program)) };
}
