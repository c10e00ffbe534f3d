/** include/mpi.h: it compiles as C and C++, and says the same as the core where both name a value. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { declaredFunctions, importedFunctions, signatureOf } from "../../scripts/mpi-wrappers.mjs";
import { check } from "../cc/testing/toolchain.ts";
import * as constants from "../core/base/constants.ts";
import { ErrorClass } from "../core/base/mpi-error.ts";
import { Combiner } from "../core/comm/datatype/datatype-combiner.ts";
import { predefinedTypes } from "../core/comm/datatype/datatype-predefined.ts";
import { errorStringBytesMax } from "../core/comm/error-codes.ts";
import { errorsAbort, errorsAreFatal, errorsReturn } from "../core/comm/error-handler.ts";
import { predefinedOps } from "../core/comm/op/op-predefined.ts";
import { predefinedKeyvals } from "../mpi/keyvals.ts";

/** `#define MPI_X 12`, `((MPI_Op)0x21)`, `MPI_Y`. */
function definitions(): Map<string, number> {
  const text = ["include/mpi.h", "include/mpi-ext.h"].map((path) => readFileSync(path, "utf8")).join("");
  const values = new Map<string, number>();
  for (const [, name, value] of text.matchAll(/^#define (MPIX?_\w+) +(?:\(\(\w+ ?\**\))?\(?(-?\w+)\)*$/gm)) {
    values.set(name!, values.get(value!) ?? Number(value));
  }
  return values;
}

const header = definitions();
const functions = declaredFunctions();

describe("mpi.h", () => {
  it("declares every function once", () => {
    const names = functions.map(({ name }) => name);
    equal(new Set(names).size, names.length);
    for (const name of ["MPI_Send", "MPI_Win_shared_query_c", "MPI_T_event_copy", "MPI_Type_ub", "MPIX_Comm_shrink"]) {
      ok(names.includes(name), name);
    }
  });

  it("has nothing that its readers do not understand", () => {
    const texts = ["include/mpi.h", "include/mpi-ext.h"].map((path) => readFileSync(path, "utf8"));
    const uses = texts.flatMap((text) => [...text.matchAll(/^BANYAN_DECLARE/gm)]);
    equal(uses.length, functions.length);
    for (const [name, value] of header) ok(!Number.isNaN(value), name);
  });

  it("gives parameters and results WebAssembly's types", () => {
    const signatures = Object.fromEntries(functions.map((each) => [each.name, signatureOf(each)]));
    equal(signatures["MPI_Send"], "iiiiii>i");
    equal(signatures["MPI_Send_c"], "iliiii>i");
    equal(signatures["MPI_Get_count_c"], "iii>i");
    equal(signatures["MPI_File_read_at_c"], "ililii>i");
    equal(signatures["MPI_Group_range_incl"], "iiii>i");
    equal(signatures["MPI_Pcontrol"], "i>i");
    equal(signatures["MPI_Wtime"], ">d");
    equal(signatures["MPI_Aint_add"], "ii>i");
  });

  it("leaves to the runtime what the support library does not define", () => {
    const imported = new Set(importedFunctions().map(({ name }) => name));
    const local = functions.map(({ name }) => name).filter((name) => !imported.has(name));
    for (const name of ["MPI_Comm_c2f", "MPI_Type_fromint", "MPI_Aint_diff", "MPI_Type_struct"]) {
      ok(local.includes(name), name);
    }
    for (const name of ["MPI_Wtime", "MPI_Info_get", "MPI_Pcontrol", "MPI_Status_get_tag"])
      ok(imported.has(name), name);
  });

  // Not <mpi.h>: compilers are silent about what is wrong in a system's headers.
  const everything = `#include "include/mpi.h"
typedef void (*Function)(void);
extern Function functions[];
Function functions[] = {
${functions.map(({ name }) => `(Function)${name}, (Function)P${name},`).join("\n")}
};
int statusWords[sizeof(MPI_Status) == 32 && sizeof(MPI_Aint) == 4 && sizeof(MPI_Count) == 8 ? 1 : -1];
static MPI_Comm world = MPI_COMM_WORLD;
MPI_Comm *worldPointer = &world;
int constants[] = {
${[...header.keys()]
  .filter((name) => !/_FN(_C)?$/.test(name))
  .map((name) => `(int)${name},`)
  .join("\n")}
};
`;
  const strict = ["-pedantic", "-Wall", "-Wextra", "-Wno-long-long", "-Wno-missing-declarations"];
  for (const [name, standard] of [
    ["all.c", "c89"],
    ["all.c", "c23"],
    ["all.cpp", "c++98"],
    ["all.cpp", "c++23"],
  ] as const) {
    it(`compiles as ${standard}, every function and constant named`, async () => {
      await check(name, everything, `-std=${standard}`, ...strict);
    });
  }

  it("comes with mpi-ext.h, whichever is included first", async () => {
    const program = "int main(void) { return MPIX_Comm_revoke(MPI_COMM_WORLD) == MPIX_ERR_REVOKED; }";
    await check("a.c", `#include <mpi-ext.h>\n#include <mpi.h>\n${program}`);
    await check("a.c", `#include <mpi.h>\n#include <mpi-ext.h>\n${program}`);
  });
});

describe("values in mpi.h are those of the core", () => {
  const agree = (name: string, value: number): void => equal(header.get(name), value, name);

  it("constants, also those that a file of the binding keeps for itself", () => {
    // The largest tag is the value of the attribute whose key mpi.h names.
    const { TAG_UB: _, ...named } = constants;
    for (const [name, value] of Object.entries(named)) agree(`MPI_${name}`, value);
    for (const path of readdirSync("src/abi", { recursive: true, encoding: "utf8" })) {
      if (!path.endsWith(".ts")) continue;
      const text = readFileSync(join("src/abi", path), "utf8");
      for (const [, name, value] of text.matchAll(/^(?:export )?const ([A-Z][A-Z0-9_]+) = (-?\w+);/gm)) {
        if (header.has(`MPI_${name}`)) agree(`MPI_${name}`, Number(value));
      }
    }
    for (const [name, value] of Object.entries(Combiner)) agree(`MPI_COMBINER_${name}`, value);
    for (const [name, keyval] of Object.entries(predefinedKeyvals)) agree(`MPI_${name}`, keyval.number);
    agree("MPI_MAX_ERROR_STRING", errorStringBytesMax + 1);
  });

  it("error classes, all of them", () => {
    const core = Object.entries(ErrorClass).map(([name, value]) => {
      return [name === "SUCCESS" ? "MPI_SUCCESS" : `MPI_ERR_${name}`, value] as const;
    });
    const ours = [...header].filter(([name]) => /^MPI_(ERR_|SUCCESS$)/.test(name));
    const sorted = (entries: readonly (readonly [string, number])[]) => entries.toSorted((a, b) => a[1] - b[1]);
    deepEqual(sorted(ours), sorted(core));
  });

  it("U2 ULFM's names with an X are those of the coming standard, and every function has both", () => {
    for (const name of ["ERR_PROC_FAILED", "ERR_PROC_FAILED_PENDING", "ERR_REVOKED", "FT"])
      agree(`MPIX_${name}`, header.get(`MPI_${name}`)!);
    const signatures = new Map(functions.map((each) => [each.name, signatureOf(each)]));
    const withX = [...signatures].filter(([name]) => name.startsWith("MPIX_Comm_"));
    equal(withX.length, 10);
    for (const [name, signature] of withX) equal(signatures.get(name.replace("MPIX", "MPI")), signature, name);
  });

  it("datatypes, all of them", () => {
    const text = readFileSync("include/mpi.h", "utf8");
    const named = [...text.matchAll(/^#define (MPI_\w+) +\(\(MPI_Datatype\)(0x2\w+)\)/gm)]
      .map(([, name, handle]) => [name, Number(handle)])
      .filter(([name]) => name !== "MPI_DATATYPE_NULL");
    deepEqual(
      named,
      Object.values(predefinedTypes)
        .map((type) => [type.name, type.handle] as const)
        .toSorted((a, b) => a[1] - b[1]),
    );
  });

  it("operations and error handlers", () => {
    for (const [name, { handle }] of Object.entries(predefinedOps)) agree(`MPI_${name}`, handle);
    agree("MPI_ERRORS_ARE_FATAL", errorsAreFatal.handle);
    agree("MPI_ERRORS_ABORT", errorsAbort.handle);
    agree("MPI_ERRORS_RETURN", errorsReturn.handle);
  });
});
