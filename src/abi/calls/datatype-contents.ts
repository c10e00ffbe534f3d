/** Decoding a datatype: MPI 5.0 §5.1.13. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { Combiner } from "../../core/comm/datatype/datatype-combiner.ts";
import { largeCounts } from "../arguments/counts.ts";
import { type Contents, handleInside, largeContentsOf } from "../handles/datatype-envelopes.ts";
import type { Program } from "../program.ts";

export function datatypeContentsCalls(program: Program) {
  const { ints, types } = program;
  const { of, put } = largeCounts(program);

  /** For the forms without room for large counts. */
  function smallContents(handle: number, name: string): Contents {
    const contents = largeContentsOf(types.get(handle).core);
    if (contents.largeCounts.length === 0) return contents;
    const state = "it was made with large counts";
    throw new MpiError(ErrorClass.TYPE, `Cannot decode the datatype with ${name}: ${state}; call ${name}_c`);
  }

  function checkRoom(what: string, room: number, values: readonly unknown[]): void {
    if (room >= values.length) return;
    throw new MpiError(
      ErrorClass.ARG,
      `Cannot write the contents of the datatype: it has ${values.length} ${what} and there is room for ${room}`,
    );
  }

  interface Target {
    /** How many fit, and where they go. */
    readonly integers: readonly [room: number, address: number];
    readonly addresses: readonly [room: number, address: number];
    readonly datatypes: readonly [room: number, address: number];
  }

  function write(handle: number, contents: Contents, target: Target): void {
    if (contents.combiner === Combiner.NAMED) {
      const { name } = types.get(handle);
      throw new MpiError(ErrorClass.TYPE, `Cannot decode ${name}: it is predefined, only made types have contents`);
    }
    checkRoom("integers", target.integers[0], contents.integers);
    checkRoom("addresses", target.addresses[0], contents.addresses);
    checkRoom("datatypes", target.datatypes[0], contents.datatypes);
    program.putList(target.integers[1], contents.integers);
    program.putList(target.addresses[1], contents.addresses);
    const handles = contents.datatypes.map((core) => handleInside(program, core));
    program.putList(target.datatypes[1], handles);
  }

  return {
    MPI_Type_get_envelope(
      handle: number,
      integers: number,
      addresses: number,
      datatypes: number,
      combiner: number,
    ): number {
      const contents = smallContents(handle, "MPI_Type_get_envelope");
      ints[integers >> 2] = contents.integers.length;
      ints[addresses >> 2] = contents.addresses.length;
      ints[datatypes >> 2] = contents.datatypes.length;
      ints[combiner >> 2] = contents.combiner;
      return 0;
    },
    MPI_Type_get_envelope_c(
      handle: number,
      integers: number,
      addresses: number,
      counts: number,
      datatypes: number,
      combiner: number,
    ): number {
      const contents = largeContentsOf(types.get(handle).core);
      put(integers, contents.integers.length);
      put(addresses, contents.addresses.length);
      put(counts, contents.largeCounts.length);
      put(datatypes, contents.datatypes.length);
      ints[combiner >> 2] = contents.combiner;
      return 0;
    },
    MPI_Type_get_contents(
      handle: number,
      integersMax: number,
      addressesMax: number,
      datatypesMax: number,
      integers: number,
      addresses: number,
      datatypes: number,
    ): number {
      write(handle, smallContents(handle, "MPI_Type_get_contents"), {
        integers: [integersMax, integers],
        addresses: [addressesMax, addresses],
        datatypes: [datatypesMax, datatypes],
      });
      return 0;
    },
    MPI_Type_get_contents_c(
      handle: number,
      integersMax: bigint,
      addressesMax: bigint,
      countsMax: bigint,
      datatypesMax: bigint,
      integers: number,
      addresses: number,
      counts: number,
      datatypes: number,
    ): number {
      const contents = largeContentsOf(types.get(handle).core);
      checkRoom("large counts", of(countsMax), contents.largeCounts);
      write(handle, contents, {
        integers: [of(integersMax), integers],
        addresses: [of(addressesMax), addresses],
        datatypes: [of(datatypesMax), datatypes],
      });
      for (const [i, count] of contents.largeCounts.entries()) put(counts + 8 * i, count);
      return 0;
    },
  };
}
