// What the arguments of every MPI function are, so that the binding can check them in one place (src/abi/arguments/arguments.ts): made from
// include/mpi.h, where a type and a name say most of it, when we build (header-plugin.mjs). What they do not say is in the tables
// below. `node scripts/mpi-signatures.mjs` prints all of it.
//
// A parameter is its name, and behind a colon what the call does with it, where that matters to the check:
//
//   comm, file          whose error handler hears of a bad argument
//   int, MPI_Request …  the address of one such value, read or written
//   int[count]          an array; its length is a parameter, a number, or a word of `lengths` in src/abi/arguments/arguments.ts
//   …?                  0 is allowed and stands for "none" (MPI_STATUS_IGNORE, MPI_ARGV_NULL …)
//   text                a string, closed by a zero
//   bytes[size]         a buffer of that many bytes
//   attached[size]      the same, or MPI_BUFFER_AUTOMATIC
//   data                a buffer whose length follows from a count and a datatype: src/abi/arguments/buffers.ts checks it
//   weights[n]          an array of ints, or MPI_UNWEIGHTED or MPI_WEIGHTS_EMPTY
//   function            a function of the program
//   list                an array or texts whose length only the call knows: it reads them by the checked `Program.list` and `text`
//   value               an address that nobody follows
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { importedFunctions } from "./mpi-wrappers.mjs";

/** By the parameter's type: the first pattern that fits. */
const byType = [
  [/^MPI_Comm \w/, "comm"],
  [/^MPI_File \w/, "file"],
  // MPI_NULL_COPY_FN, MPI_CONVERSION_FN_NULL and their kin are 0.
  [/^MPI_\w+_(copy_attr|delete_attr|conversion)_function(_c)? \*/, "function?"],
  [/^MPI_\w+_function(_c)? \*/, "function"],
  [/^const char /, "text"],
  [/^const MPI_Status \*/, "MPI_Status"],
  [/^MPI_Status \*/, "MPI_Status?"],
];

/** By its name, where all functions with such a parameter agree; `Function.name` where they do not. Exceptions come first. */
const byName = {
  // Messages and collectives
  "Bcast.buffer": "data",
  buf: "data",
  sendbuf: "data",
  recvbuf: "data",
  buffer: "attached[size]",
  buffer_addr: "void *",
  "Status_set_elements.status": "MPI_Status",
  "Status_set_cancelled.status": "MPI_Status",
  "Status_set_source.status": "MPI_Status",
  "Status_set_tag.status": "MPI_Status",
  "Status_set_error.status": "MPI_Status",
  // A Fortran status is the same eight words.
  c_status: "MPI_Status",
  f_status: "MPI_Status",
  f08_status: "MPI_Status",
  "Startall.array_of_requests": "MPI_Request[count]",
  array_of_requests: "MPI_Request[count|incount]",
  array_of_statuses: "MPI_Status[count|incount]?",
  array_of_indices: "int[incount]",
  array_of_partitions: "int[length]",
  "Gatherv.recvcounts": "[peersAtRoot]",
  "Gatherv.displs": "[peersAtRoot]",
  "Scatterv.sendcounts": "[peersAtRoot]",
  "Scatterv.displs": "[peersAtRoot]",
  "Allgatherv.recvcounts": "[peers]",
  "Allgatherv.displs": "[peers]",
  "Reduce_scatter.recvcounts": "[members]",
  "Neighbor_allgatherv.recvcounts": "[sources]",
  "Neighbor_allgatherv.displs": "[sources]",
  "Neighbor_alltoallv.sendcounts": "[destinations]",
  "Neighbor_alltoallv.sdispls": "[destinations]",
  "Neighbor_alltoallv.recvcounts": "[sources]",
  "Neighbor_alltoallv.rdispls": "[sources]",
  "Neighbor_alltoallw.sendcounts": "[destinations]",
  "Neighbor_alltoallw.sdispls": "[destinations]",
  "Neighbor_alltoallw.sendtypes": "[destinations]",
  "Neighbor_alltoallw.recvcounts": "[sources]",
  "Neighbor_alltoallw.rdispls": "[sources]",
  "Neighbor_alltoallw.recvtypes": "[sources]",
  sendcounts: "[peersUnlessInPlace]",
  sdispls: "[peersUnlessInPlace]",
  sendtypes: "[peersUnlessInPlace]",
  recvcounts: "[peers]",
  rdispls: "[peers]",
  recvtypes: "[peers]",
  // Datatypes, packing
  "Type_get_contents.array_of_integers": "[max_integers]",
  "Type_get_contents.array_of_addresses": "[max_addresses]",
  "Type_get_contents.array_of_large_counts": "[max_large_counts]",
  "Type_get_contents.array_of_datatypes": "[max_datatypes]",
  "Type_create_indexed_block.array_of_displacements": "[count]",
  "Type_create_hindexed_block.array_of_displacements": "[count]",
  array_of_blocklengths: "[count]",
  array_of_displacements: "[count]",
  array_of_types: "[count]",
  array_of_sizes: "[ndims]",
  array_of_subsizes: "[ndims]",
  array_of_starts: "[ndims]",
  array_of_gsizes: "[ndims]",
  array_of_distribs: "[ndims]",
  array_of_dargs: "[ndims]",
  array_of_psizes: "[ndims]",
  "Pack.inbuf": "data",
  "Pack.outbuf": "bytes[outsize]",
  "Pack_external.inbuf": "data",
  "Pack_external.outbuf": "bytes[outsize]",
  "Unpack.inbuf": "bytes[insize]",
  "Unpack.outbuf": "data",
  "Unpack_external.inbuf": "bytes[insize]",
  "Unpack_external.outbuf": "data",
  inbuf: "data",
  inoutbuf: "data",
  location: "value",
  // Groups and topologies
  ranks: "[n]",
  ranks1: "[n]",
  ranks2: "[n]",
  ranges: "int[3*n]",
  "Cart_get.dims": "[maxdims]",
  "Cart_get.periods": "[maxdims]",
  "Cart_rank.coords": "list",
  remain_dims: "list",
  dims: "[ndims]",
  periods: "[ndims]",
  coords: "[maxdims]",
  "Graph_get.indx": "[maxindex]",
  "Graph_get.edges": "[maxedges]",
  "Graph_create.indx": "[nnodes]",
  "Graph_map.indx": "[nnodes]",
  edges: "list",
  neighbors: "[maxneighbors]",
  "Dist_graph_create_adjacent.sources": "[indegree]",
  "Dist_graph_create_adjacent.sourceweights": "weights[indegree]",
  "Dist_graph_create_adjacent.destinations": "[outdegree]",
  "Dist_graph_create_adjacent.destweights": "weights[outdegree]",
  "Dist_graph_neighbors.sources": "[maxindegree]",
  "Dist_graph_neighbors.sourceweights": "weights[maxindegree]?",
  "Dist_graph_neighbors.destinations": "[maxoutdegree]",
  "Dist_graph_neighbors.destweights": "weights[maxoutdegree]?",
  "Dist_graph_create.sources": "[n]",
  "Dist_graph_create.degrees": "[n]",
  "Dist_graph_create.destinations": "list",
  "Dist_graph_create.weights": "list",
  // The environment: attributes, memory, info objects, names
  extra_state: "value",
  // Many programs never cancel.
  "Grequest_start.cancel_fn": "function?",
  "Comm_get_attr.attribute_val": "void *",
  "Type_get_attr.attribute_val": "void *",
  "Win_get_attr.attribute_val": "void *",
  attribute_val: "value",
  baseptr: "void *",
  "Win_create.base": "bytes[size]",
  "Win_attach.base": "bytes[size]",
  base: "value",
  "Info_create_env.argv": "int[argc]?",
  "Info_get.value": "char[valuelen+1]",
  "Info_get_string.value": "char[*buflen]",
  "Info_get_nthkey.key": "char[MPI_MAX_INFO_KEY]",
  comm_name: "char[MPI_MAX_OBJECT_NAME]",
  type_name: "char[MPI_MAX_OBJECT_NAME]",
  win_name: "char[MPI_MAX_OBJECT_NAME]",
  "Get_processor_name.name": "char[MPI_MAX_PROCESSOR_NAME]",
  version: "char[MPI_MAX_LIBRARY_VERSION_STRING]",
  string: "char[MPI_MAX_ERROR_STRING]",
  datarep: "char[MPI_MAX_DATAREP_STRING]",
  port_name: "char[MPI_MAX_PORT_NAME]",
  pset_name: "char[*pset_len]",
  logical_true: "bytes[logical_size]",
  logical_false: "bytes[logical_size]",
  // Starting: the arguments of main are ignored, commands count at the root alone.
  "Init.argc": "value",
  "Init_thread.argc": "value",
  "Session_init.argc": "value",
  argv: "value",
  "Comm_spawn.command": "list",
  "Comm_spawn.argv": "list",
  array_of_commands: "list",
  array_of_argv: "list",
  array_of_maxprocs: "list",
  array_of_info: "list",
  array_of_errcodes: "list",
  // One-sided communication
  origin_addr: "data",
  result_addr: "data",
  compare_addr: "data",
  // The tools interface, where most may be left out
  "T_event_get_info.array_of_datatypes": "[*num_elements]?",
  "T_event_get_info.array_of_displacements": "[*num_elements]?",
  "T_event_read.buffer": "value",
  "T_event_copy.buffer": "value",
  name: "char[*name_len]?",
  desc: "char[*desc_len]?",
  indices: "[len]",
  obj_handle: "value",
  user_data: "value",
};

const lengthWords = new Set(["peers", "peersAtRoot", "peersUnlessInPlace", "members", "sources", "destinations"]);

const header = readFileSync("include/mpi.h", "utf8");
const constant = (name) => header.match(new RegExp(`^#define ${name} +(\\d+)`, "m"))?.[1];

export const parameterName = (parameter) => parameter.match(/(\w+)(?:\[\w*\])*$/)[1];
export const isPointer = (parameter) => /[*[]/.test(parameter);
/** The type behind an address: `const int ranks[]` and `int *rank` lead to an int. */
const elementOf = (parameter) => parameter.replace(/^const /, "").match(/^\w+/)[0];
/** All forms of a function have the same rules: MPI_Igatherv_init_c and MPI_Gatherv. */
const formsOf = (name) => {
  const bare = name.replace(/^MPIX?_/, "").replace(/_c$/, "");
  const blocking = bare.replace(/_init$/, "").replace(/^I([a-z])/, (_, letter) => letter.toUpperCase());
  return [bare, blocking];
};

/** The kind of a parameter; undefined: no rule covers it. */
function kindOf(name, parameter, names) {
  const key = parameterName(parameter);
  const isText = /^const char /.test(parameter);
  if (isPointer(parameter)) {
    const rule =
      formsOf(name)
        .map((form) => byName[`${form}.${key}`])
        .find(Boolean) ?? (isText ? undefined : byName[key]);
    // `int *dims` is a number, `int dims[]` the array that the name stands for; texts and void say what they are by name alone.
    if (rule !== undefined && (rule.includes("[") ? isArray(parameter) || !rule.startsWith("[") : true)) {
      return resolved(rule.startsWith("[") ? elementOf(parameter) + rule : rule, parameter, names);
    }
  }
  const typed = byType.find(([pattern]) => pattern.test(parameter));
  if (typed !== undefined) return typed[1];
  return /^\w+ \*\w+$/.test(parameter) && !/^(void|char) /.test(parameter) ? elementOf(parameter) : undefined;
}

const isArray = (parameter) => parameter.endsWith("]");

/** Alternatives in the length are parameters of the function, constants are numbers. */
function resolved(rule, parameter, names) {
  const match = rule.match(/^(.*)\[(.*)\](\??)$/);
  if (match === null) return rule.replace("void *", "void*");
  const [, element, text, optional] = match;
  // A parameter `int *version` is a number even where `char *version` is a text.
  if (element === "char" && elementOf(parameter) !== "char") return elementOf(parameter);
  const length =
    constant(text) ?? text.split("|").find((word) => names.has(word) || !/^\w+$/.test(word) || lengthWords.has(word));
  return length === undefined ? undefined : `${element}[${length}]${optional}`;
}

/** A function in one line: its parameters. Unknown kinds are marked, and the test of the table fails. */
export function describe({ name, parameters }) {
  const known = parameters.filter((parameter) => parameter !== "...");
  const names = new Set(known.map(parameterName));
  return known
    .map((parameter) => {
      const kind = kindOf(name, parameter, names);
      if (kind !== undefined) return `${parameterName(parameter)}:${kind}`;
      return isPointer(parameter) ? `${parameterName(parameter)}:UNKNOWN` : parameterName(parameter);
    })
    .join(" ");
}

/** The line of each function by its name. */
export function signaturesOf() {
  return Object.fromEntries(importedFunctions().map((each) => [each.name, describe(each)]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const [name, parameters] of Object.entries(signaturesOf())) console.log(`${name}: ${parameters}`);
}
