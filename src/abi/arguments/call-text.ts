/** A call of an MPI function as people know it: `MPI_Send(3 MPI_DOUBLE)`, from its name and the numbers that it was given. */
import { signatures } from "../../../include/mpi.h";
import type { Program } from "../program.ts";

/** Parameters that say how much is sent, and what. */
const counts = ["count", "sendcount"];
const types = ["datatype", "sendtype"];

export function callText(program: Program, name: string, args: readonly (number | bigint)[]): string {
  const parameters = signatures[name]?.split(" ").map((parameter) => parameter.split(":")[0]!) ?? [];
  const count = args[parameters.findIndex((parameter) => counts.includes(parameter))];
  const handle = args[parameters.findIndex((parameter) => types.includes(parameter))];
  if (count === undefined || handle === undefined) return name;
  const type = program.types.find(Number(handle));
  return `${name}(${count} ${type === undefined ? "of an unknown type" : type.name || "of a type without a name"})`;
}
