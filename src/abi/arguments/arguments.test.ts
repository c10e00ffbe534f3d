/** Arguments of every function of MPI that cannot be, row X8. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { signatures } from "../../../include/mpi.h";
import {
  describe as describeFunction,
  isPointer,
  parameterName,
  signaturesOf,
} from "../../../scripts/mpi-signatures.mjs";
import { importedFunctions, signatureOf } from "../../../scripts/mpi-wrappers.mjs";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import type { TestProgram } from "../testing/program.ts";
import { ERRORS_RETURN, INFO_NULL, INT, SELF, TestRanks, WORLD } from "../testing/ranks.ts";

const FILE_NULL = 0x118;

describe("X8 the signatures", () => {
  it("says what include/mpi.h says", () => {
    deepEqual(signatures, signaturesOf());
  });

  it("covers every pointer parameter of every function", () => {
    for (const prototype of importedFunctions()) {
      const kinds = describeFunction(prototype).split(" ");
      for (const [i, parameter] of prototype.parameters.entries()) {
        if (!isPointer(parameter)) continue;
        match(
          kinds[i]!,
          /^\w+:(?!UNKNOWN)/,
          `${prototype.name}: scripts/mpi-signatures.mjs has no rule for ${parameter}`,
        );
      }
    }
  });

  it("does not take a pointer for something that nobody follows, but where the standard says so", () => {
    const values = new Set(
      importedFunctions().flatMap((prototype) =>
        describeFunction(prototype)
          .split(" ")
          .filter((each) => each.endsWith(":value"))
          .map((each) => each.split(":")[0]),
      ),
    );
    deepEqual([...values].sort(), [
      ...["argc", "argv", "attribute_val", "base", "buffer", "extra_state", "location", "obj_handle", "user_data"],
    ]);
  });
});

/** A program of one rank whose errors are codes. */
function program(): TestProgram {
  const [c] = new TestRanks(1).programs as [TestProgram];
  for (const comm of [WORLD, SELF]) c.call("MPI_Comm_set_errhandler", comm, ERRORS_RETURN);
  c.call("MPI_File_set_errhandler", FILE_NULL, ERRORS_RETURN);
  return c;
}

const checked = /^(?!comm|file|data|list|value|function)/;

describe("X8 addresses that lead nowhere", () => {
  const c = program();
  // A place for everything that is not being tried: zeros, one for each parameter.
  const room = 16_384;
  const places = c.alloc(14 * room);
  const { program: binding } = c;
  const built = importedFunctions().filter(({ name }) => binding.calls[name] !== undefined);

  /** Arguments that pass the check of addresses: one of everything, for MPI_COMM_WORLD and root 0. */
  function argumentsOf(prototype: (typeof built)[number]): (number | bigint)[] {
    const kinds = signatureOf(prototype);
    return prototype.parameters
      .filter((parameter) => parameter !== "...")
      .map((parameter, i) => {
        if (isPointer(parameter)) return places + i * room;
        if (/^MPI_Comm /.test(parameter)) return WORLD;
        if (/^MPI_Datatype /.test(parameter)) return INT;
        const value = parameterName(parameter) === "root" ? 0 : 1;
        return kinds[i] === "l" ? BigInt(value) : value;
      });
  }

  const bad: readonly (readonly [what: string, isSo: (kind: string) => boolean, address: () => number])[] = [
    ["0", (kind) => !kind.endsWith("?"), () => 0],
    ["the end of memory", () => true, () => binding.bytes.length],
    [
      "just below the end of memory",
      (kind) => /MPI_(Count|Offset|Status)|char\[[2-9]/.test(kind),
      () => binding.bytes.length - 4,
    ],
    ["a negative number", () => true, () => -4096],
    ["not a multiple of 4", (kind) => !/^(char|text|bytes|attached)/.test(kind), () => places + 2],
  ];

  let tries = 0;
  for (const [what, isSo, address] of bad) {
    it(`${what}: refused by every function, and nothing is written`, () => {
      for (const prototype of built) {
        const { name } = prototype;
        if (name === "MPI_Finalize" || name === "MPI_Abort" || name === "MPI_Init" || name === "MPI_Init_thread")
          continue;
        const kinds = (signatures[name] ?? "").split(" ").map((each) => each.split(":")[1]);
        for (const [i, kind] of kinds.entries()) {
          if (kind === undefined || !checked.test(kind) || !isSo(kind)) continue;
          // One rank without a topology has no neighbours.
          if (/\[(sources|destinations)\]/.test(kind)) continue;
          const args = argumentsOf(prototype);
          args[i] = address();
          // A length that is read from memory.
          if (kind.includes("*buflen")) binding.ints[(places + (i - 1) * room) >> 2] = 8;
          const before = Buffer.from(binding.bytes).toString("latin1");
          const code = c.call(name, ...args);
          const expected: readonly number[] = /file/.test(kinds.join(" "))
            ? [ErrorClass.FILE]
            : [ErrorClass.ARG, ErrorClass.BUFFER, ErrorClass.INFO_KEY, ErrorClass.INFO_VALUE];
          ok(expected.includes(code), `${name}(${parameterName(prototype.parameters[i]!)}): code ${code}`);
          equal(Buffer.from(binding.bytes).toString("latin1") === before, true, `${name} has written`);
          tries++;
        }
      }
    });
  }

  it("were tried on hundreds of parameters", () => ok(tries > 1500, `${tries}`));
});

describe("X8 what the message says", () => {
  const c = program();
  const told = (name: string, ...args: (number | bigint)[]): string => {
    let message = "";
    c.program.raise = (error) => {
      message = (error as Error).message;
      return 1;
    };
    c.call(name, ...args);
    return message;
  };
  for (const [name, args, text] of [
    ["MPI_Comm_rank", [WORLD, 0], "Cannot call MPI_Comm_rank: rank is a null pointer; give the address of an int"],
    ["MPI_Wait", [0, 0], "Cannot call MPI_Wait: request is a null pointer; give the address of an MPI_Request"],
    ["MPI_Comm_size", [WORLD, 66], /^Cannot call MPI_Comm_size: size is address 66; .* a multiple of 4$/],
    ["MPI_Waitall", [1, 0, 0], /^Cannot call MPI_Waitall: array_of_requests is a null pointer; give .* an array/],
    ["MPI_Info_set", [INFO_NULL, 0, 64], /^Cannot call MPI_Info_set: key is a null pointer; give .* a string$/],
    ["MPI_Op_create", [0, 1, 64], /^Cannot call MPI_Op_create: user_fn is 0, which is no function/],
    ["MPI_Send", [0, 1, INT, 0, 1, WORLD], /^Cannot call MPI_Send: the buffer is a null pointer/],
    ["MPI_Bcast", [-4096, 1, INT, 0, WORLD], /^Cannot call MPI_Bcast: the buffer has bytes -4096 to -4092/],
    ["MPI_Recv", [64, 1, INT, 0, 1, WORLD, 2], /^Cannot call MPI_Recv: status is address 2/],
  ] as const) {
    it(`${name}: names the call and the parameter`, () => {
      if (typeof text === "string") equal(told(name, ...args), text);
      else match(told(name, ...args), text);
    });
  }
});
