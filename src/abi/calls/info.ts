/** Info objects: MPI 5.0 chapter 10. Their errors go to MPI_COMM_SELF's handler. */
import { bytesOfText } from "../../core/base/byte-text.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { Info, infoKeyBytesMax, infoValueBytesMax, setIfItFits } from "../../core/comm/info.ts";
import { INFO_ENV, type Program } from "../program.ts";

const INFO_NULL = 0x130;

/** The hints of a call, as they are now; none for MPI_INFO_NULL. */
export function infoArgument(program: Program, handle: number): Info {
  return handle === INFO_NULL ? new Info() : program.infos.get(handle).dup();
}

/** The hints on communicators that we know (MPI 5.0 §7.4.4); others are ignored, and not kept. */
const communicatorHints = new Set([
  "mpi_assert_no_any_tag",
  "mpi_assert_no_any_source",
  "mpi_assert_exact_length",
  "mpi_assert_allow_overtaking",
]);

/** Those of a call that are about a communicator. */
export function hintsArgument(program: Program, handle: number): Info {
  return Info.of([...infoArgument(program, handle)].filter(([key]) => communicatorHints.has(key)));
}

export function infoCalls(program: Program) {
  const { host, infos, ints, process } = program;

  function put(info: Info, out: number): number {
    ints[out >> 2] = infos.add(info);
    return 0;
  }

  /** One that the program may change. */
  function own(handle: number): Info {
    const info = infos.get(handle);
    if (handle !== INFO_ENV) return info;
    throw new MpiError(ErrorClass.INFO, "Cannot change MPI_INFO_ENV: it tells how the program was started");
  }

  /** What is known about how the program was started (§11.5.3). */
  function environment(info: Info): Info {
    info.set("maxprocs", `${process.ranks}`);
    info.set("host", host.processorName);
    info.set("arch", "wasm32");
    return info;
  }
  environment(infos.get(INFO_ENV));

  /** The arguments of main. All of them must fit a value: there are no more of them than it has bytes. */
  function argumentsAt(argv: number, argc: number): string[] {
    if (argc <= infoValueBytesMax) return program.list(argv, argc).map((word) => program.text(word));
    throw new MpiError(ErrorClass.ARG, `Cannot take ${argc} arguments: values have at most ${infoValueBytesMax} bytes`);
  }

  /** The value, in bytes; null when the key is not set. `flag` says which. */
  function valueBytes(handle: number, key: number, flag: number): Uint8Array | null {
    const value = infos.get(handle).get(program.text(key));
    ints[flag >> 2] = value === undefined ? 0 : 1;
    return value === undefined ? null : bytesOfText(value);
  }

  /** As much as fits `room` bytes together with the closing zero. */
  function putValue(address: number, value: Uint8Array, room: number): void {
    const part = value.subarray(0, room - 1);
    program.bytes.set(part, address);
    program.bytes[address + part.length] = 0;
  }

  return {
    MPI_Info_create: (out: number): number => put(new Info(), out),
    MPI_Info_create_env(argc: number, argv: number, out: number): number {
      const info = environment(new Info());
      const [command, ...rest] = argv === 0 ? [] : argumentsAt(argv, argc);
      if (command !== undefined) setIfItFits(info, "command", command);
      if (rest.length > 0) setIfItFits(info, "argv", rest.join(" "));
      return put(info, out);
    },
    MPI_Info_set(handle: number, key: number, value: number): number {
      own(handle).set(program.text(key), program.text(value));
      return 0;
    },
    MPI_Info_delete(handle: number, key: number): number {
      own(handle).delete(program.text(key));
      return 0;
    },
    /** `room` is for the value without its closing zero. */
    MPI_Info_get(handle: number, key: number, room: number, to: number, flag: number): number {
      const value = valueBytes(handle, key, flag);
      if (value !== null) putValue(to, value, room + 1);
      return 0;
    },
    MPI_Info_get_valuelen(handle: number, key: number, out: number, flag: number): number {
      const value = valueBytes(handle, key, flag);
      if (value !== null) ints[out >> 2] = value.length;
      return 0;
    },
    /** Here the room counts the closing zero, before and after. */
    MPI_Info_get_string(handle: number, key: number, roomAt: number, to: number, flag: number): number {
      const value = valueBytes(handle, key, flag);
      if (value === null) return 0;
      const room = ints[roomAt >> 2]!;
      if (room > 0) putValue(to, value, room);
      ints[roomAt >> 2] = value.length + 1;
      return 0;
    },
    MPI_Info_get_nkeys(handle: number, out: number): number {
      ints[out >> 2] = infos.get(handle).size;
      return 0;
    },
    MPI_Info_get_nthkey(handle: number, n: number, to: number): number {
      program.putText(to, infos.get(handle).nthKey(n), infoKeyBytesMax + 1);
      return 0;
    },
    MPI_Info_dup: (handle: number, out: number): number => put(infos.get(handle).dup(), out),
    MPI_Info_free(handleAt: number): number {
      const handle = ints[handleAt >> 2]!;
      own(handle);
      infos.remove(handle);
      ints[handleAt >> 2] = INFO_NULL;
      return 0;
    },
  };
}
