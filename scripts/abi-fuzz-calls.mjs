// The fuzzer's table of calls, made from the prototypes of include/mpi.h (test/programs/c/abi-fuzz): the kind of each
// parameter, the count and datatype of each buffer, and the kinds of episode in which a function may be called.
import { declaredFunctions, importedFunctions } from "./mpi-wrappers.mjs";

/** Functions that end the job or MPI, or make processes; the last has no fixed parameters. */
const never = /^MPI_(Init|Init_thread|Finalize|Abort|Comm_spawn|Comm_spawn_multiple|Pcontrol)$/;

const classes = {
  MPI_Comm: "COMM",
  MPI_Group: "GROUP",
  MPI_Datatype: "TYPE",
  MPI_Op: "OP",
  MPI_Request: "REQUEST",
  MPI_Errhandler: "ERRHANDLER",
  MPI_Info: "INFO",
  MPI_Message: "MESSAGE",
  MPI_File: "FILE",
  MPI_Win: "WIN",
  MPI_Session: "SESSION",
};

const wordBytes = (type) => (/\b(MPI_Count|MPI_Offset)\b/.test(type) ? 8 : 4);

/** Room for a text that MPI writes. */
const textBytes = {
  MPI_Comm_get_name: 128,
  MPI_Type_get_name: 128,
  MPI_Win_get_name: 128,
  MPI_Get_processor_name: 256,
  MPI_Get_library_version: 8192,
  MPI_Error_string: 512,
  MPI_File_get_view: 128,
  MPI_Info_get_nthkey: 256,
  MPI_Open_port: 1024,
  MPI_Lookup_name: 1024,
};

/**
 * The parameter that gives the length of an array; without one the array has as many elements as there can be members or
 * neighbours.
 */
function lengthOf(parameter, names) {
  const first = (...candidates) => candidates.map((each) => names.indexOf(each)).find((index) => index >= 0) ?? -1;
  switch (parameter) {
    case "array_of_requests":
    case "array_of_statuses":
    case "array_of_indices":
      return first("count", "incount");
    case "array_of_integers":
      return first("max_integers");
    case "array_of_addresses":
      return first("max_addresses");
    case "array_of_large_counts":
      return first("max_large_counts");
    case "array_of_datatypes":
      return first("max_datatypes", "num_elements");
    case "sources":
    case "sourceweights":
      return first("indegree", "maxindegree", "n");
    case "destinations":
    case "destweights":
      return first("outdegree", "maxoutdegree");
    case "degrees":
      return first("n");
    case "indx":
      return first("nnodes", "maxindex");
    case "edges":
      return first("maxedges");
    case "neighbors":
      return first("maxneighbors");
    case "indices":
      return first("len");
    case "array_of_partitions":
      return first("length");
    case "argv":
      return first("argc");
    case "recvcounts":
    case "sendcounts":
    case "displs":
    case "sdispls":
    case "rdispls":
    case "sendtypes":
    case "recvtypes":
    case "remain_dims":
      return -1;
    default:
      return first("count", "n", "ndims", "maxdims");
  }
}

/**
 * The count and the datatype of a buffer are the next parameters behind it; reductions have two buffers in front of one count.
 */
function extentOf(index, types, names) {
  const isCount = (i) =>
    /^(int|MPI_Count)$/.test(types[i]) && /^(count|sendcount|recvcount|incount|outcount|\w+_count)$/.test(names[i]);
  const isCounts = (i) => /counts\[\]$/.test(`${names[i]}[]`) && /\[\]/.test(types[i]);
  const isType = (i) => types[i] === "MPI_Datatype" || /MPI_Datatype \w*\[\]|MPI_Datatype\[\]/.test(types[i]);
  const after = (test) => {
    for (let i = index + 1; i < names.length; i++) if (test(i)) return i;
    return -1;
  };
  return { count: after((i) => isCount(i) || isCounts(i)), type: after(isType) };
}

/** Buffers that hold one part for every member. */
function isForAll(name, parameter) {
  if (/(^|I|_)(all)?gather/i.test(name) && parameter === "recvbuf") return true;
  if (/alltoall/i.test(name)) return true;
  if (/scatter/i.test(name) && !/reduce/i.test(name) && parameter === "sendbuf") return true;
  if (/reduce_scatter_block/i.test(name) && parameter === "sendbuf") return true;
  if (/reduce_scatter/i.test(name)) return true;
  return /^MPI_P(send|recv)_init/.test(name);
}

const choices = {
  amode: "AMODE",
  whence: "WHENCE",
  order: "ORDER",
  typeclass: "TYPECLASS",
  split_type: "SPLIT_TYPE",
  color: "COLOR",
};

const rankNames = /^(dest|source|root|rank|local_leader|remote_leader|target_rank)$/;
const countNames =
  /^(count|sendcount|recvcount|incount|outcount|n|ndims|nnodes|max\w+|indegree|outdegree|blocklength|partitions|length|argc|len|num_to_ack|\w+_count)$/;
const sizeNames = /^(insize|outsize|size)$/;

/** The fuzzer's function for a parameter. */
function functionKind(type) {
  const kinds = { User_function: "OPERATION", copy: "COPY", Copy: "COPY", delete: "DELETE", Delete: "DELETE" };
  const others = { query: "QUERY", free: "FREE", cancel: "CANCEL" };
  const found = Object.entries({ ...kinds, ...others }).find(([word]) => type.includes(word));
  return found?.[1] ?? (/errhandler|Handler/.test(type) ? "ERROR" : "NONE");
}

/** A parameter as a row of the C table. */
function parameterOf(name, index, parameters) {
  const whole = parameters.map((each) => each.match(/^(.*?)(\w+)((?:\[\w*\])*)$/));
  const names = whole.map((match) => match?.[2] ?? "");
  const types = whole.map((match) => `${match?.[1].trim()}${match?.[3].replace("[3]", "")}`);
  const type = types[index];
  const parameter = names[index];
  const isConst = type.startsWith("const ");
  const plain = type.replace("const ", "");
  const row = (kind, rest = {}) => ({ kind, bytes: 4, of: "INT", length: -1, type: -1, out: 0, many: 0, ...rest });

  if (plain in classes) return row("HANDLE", { of: classes[plain] });
  if (/_function(_c)?( ?\*)?$|_fn( ?\*)?$/.test(plain)) return row("FUNCTION", { of: functionKind(plain) });
  if (/^(int|MPI_Fint|MPI_T_\w+)$/.test(plain) || /^MPI_(Count|Offset|Aint)$/.test(plain)) {
    const bytes = wordBytes(plain);
    if (parameter in choices) return row("CHOICE", { of: choices[parameter], bytes });
    if (plain === "MPI_Offset") return row("OFFSET", { bytes });
    if (rankNames.test(parameter) && name !== "MPI_Status_set_source") return row("RANK", { bytes });
    if (/tag$/.test(parameter)) return row("TAG", { bytes });
    if (/keyval$/.test(parameter)) return row("KEYVAL", { bytes });
    if (/^error(code|class)$/.test(parameter)) return row("CODE", { bytes });
    if (sizeNames.test(parameter) && !/darray|match_size/.test(name)) return row("SIZE", { bytes });
    if (countNames.test(parameter)) return row("COUNT", { bytes });
    return row("INT", { bytes });
  }
  const pointed = plain.replace(/\s*(\*|\[\])$/, "");
  const isArray = plain.endsWith("[]");
  if (/^(MPI_Status|MPI_F08_status)$/.test(pointed) && !isArray)
    return row("STATUS", { bytes: 32, out: isConst ? 0 : 1 });
  if (parameter === "f_status") return row("STATUS", { bytes: 32, out: isConst ? 0 : 1 });
  if (parameter === "ranges") return row("ARRAY", { bytes: 12, of: "INT", length: names.indexOf("n") });
  if (pointed === "char" && !isArray) {
    if (isConst)
      return row("TEXT", { of: parameter === "filename" ? "FILE_NAME" : parameter === "datarep" ? "DATAREP" : "ANY" });
    return row("TEXT_OUT", { bytes: textBytes[name] ?? (/Info_get/.test(name) ? 1100 : 256) });
  }
  if (isConst && plain.startsWith("char[")) return row("TEXT", { of: parameter === "datarep" ? "DATAREP" : "ANY" });
  if (isArray) {
    const length = lengthOf(parameter, names);
    if (/char/.test(pointed)) return row("ARRAY", { of: "TEXT", length });
    if (pointed === "MPI_Status") return row("ARRAY", { bytes: 32, of: "STATUS", length, out: 1 });
    if (pointed in classes)
      return row("ARRAY", { of: classes[pointed], length, out: isConst ? 0 : pointed === "MPI_Request" ? 2 : 1 });
    const of = /counts$|blocklengths$/.test(parameter)
      ? "COUNT"
      : /displs$|displacements$/.test(parameter)
        ? "DISPLACEMENT"
        : /^(ranks1?|sources|destinations|edges)$/.test(parameter)
          ? "RANK"
          : "INT";
    return row("ARRAY", { bytes: wordBytes(pointed), of, length, out: isConst ? 0 : parameter === "dims" ? 2 : 1 });
  }
  if (pointed === "void") {
    if (/^(extra_state|user_data|obj_handle|location)$/.test(parameter)) return row("POINTER");
    if (parameter === "attribute_val") return /get/.test(name) ? row("WORD", { out: 1 }) : row("POINTER");
    if (/^(buffer_addr|baseptr)$/.test(parameter))
      return row("WORD", { out: 1, of: parameter === "baseptr" ? "MEMORY" : "INT" });
    if (name === "MPI_Free_mem") return row("MEMORY");
    if (/attach/.test(name)) return row("ATTACHED");
    if (/logical/.test(parameter)) return row("WORD", { bytes: 16, out: 1 });
    const { count, type: of } = extentOf(index, types, names);
    const isPacked =
      (/[Pp]ack/.test(name) && parameter === "outbuf" && !/Unpack/.test(name)) ||
      (/Unpack/.test(name) && parameter === "inbuf");
    if (isPacked)
      return row("PACKED", { out: isConst ? 0 : 1, length: names.findIndex((each) => /^(in|out)size$/.test(each)) });
    return row("BUFFER", { length: count, type: of, out: isConst ? 0 : 1, many: isForAll(name, parameter) ? 1 : 0 });
  }
  if (pointed in classes) {
    const isUsed =
      /(_free|_commit|_close|_finalize|_disconnect)$|^MPI_(Wait|Test|Start|Cancel|Mrecv|Imrecv|Mrecv_c|Imrecv_c)$/.test(
        name,
      );
    const isBoth = isUsed && !/^MPI_Imrecv/.test(name) ? true : isUsed && pointed === "MPI_Message";
    return row("HANDLE_AT", { of: classes[pointed], out: isBoth ? 2 : 1 });
  }
  if (/^(position|buflen|comm_keyval|type_keyval|win_keyval|keyval|name_len|desc_len|pset_len)$/.test(parameter)) {
    const isNew = /keyval$/.test(parameter) && /create/.test(name);
    return row("WORD", {
      bytes: wordBytes(pointed),
      out: isNew ? 1 : 2,
      of: /keyval$/.test(parameter) ? "KEYVAL" : "INT",
    });
  }
  if (parameter === "flag" && /agree/.test(name)) return row("WORD", { out: 2 });
  const isIn = /^MPI_T_/.test(name) ? 1 : isConst ? 0 : 1;
  return row("WORD", { bytes: wordBytes(pointed), out: isIn });
}

const collective =
  /^MPI_(I?(barrier|bcast|gatherv?|scatterv?|allgatherv?|alltoall[vw]?|reduce|allreduce|reduce_scatter|reduce_scatter_block|scan|exscan|neighbor_(allgatherv?|alltoall[vw]?)))(_init)?(_c)?$/i;
const makesCommunicator =
  /^MPI_(Comm_i?dup(_with_info)?|Comm_create|Comm_split|Comm_split_type|Cart_create|Cart_sub|Graph_create|Dist_graph_create(_adjacent)?|Intercomm_merge|Comm_disconnect)$/;
const waitsForOthers =
  /^MPI_(Send|Ssend|Rsend|Recv|Mrecv|Sendrecv|Sendrecv_replace)(_c)?$|^MPI_(Wait(any|all|some)?|Probe|Mprobe|Intercomm_create|Comm_create_group)$|(detach|flush)(_buffer)?(_c)?$|^MPI_Bsend(_c)?$/;
const withoutCommunicator =
  /^MPI_(Comm_create_from_group|Intercomm_create_from_groups|Comm_join|Comm_accept|Comm_connect)$/;
const fileTogether =
  /^MPI_File_(open|close|set_size|preallocate|set_view|set_info|set_atomicity|sync|seek_shared|i?(read|write)(_at)?_all(_c)?|(read|write)_ordered(_c)?|(read|write)(_at)?_(all|ordered)_(begin|end)(_c)?)$/;
const startsLocally = /_init(_c)?$|^MPI_I/;

function flagsOf(name) {
  const flags = [];
  if (collective.test(name)) flags.push("TOGETHER", startsLocally.test(name) ? "AT_ONCE" : "");
  if (makesCommunicator.test(name)) flags.push("TOGETHER", /idup/.test(name) ? "AT_ONCE" : "");
  if (waitsForOthers.test(name)) flags.push("WAITS");
  if (withoutCommunicator.test(name)) flags.push("WORLDWIDE");
  if (fileTogether.test(name)) flags.push("FILE_TOGETHER");
  if (/^MPIX?_Comm_i?(agree|shrink)$/.test(name)) flags.push("AGREES", /_i/.test(name) ? "AT_ONCE" : "");
  if (/^MPIX?_Comm_revoke$/.test(name)) flags.push("REVOKES");
  if (/^MPI_Grequest_start$/.test(name)) flags.push("GENERALIZED");
  if (/_init(_c)?$/.test(name) && !/_Init/.test(name)) flags.push("PERSISTENT");
  // Communicates on the given communicator, which must be that of the episode.
  if (/_comm$|^MPI_(I?[bsr]?send|I?recv|I?m?probe|P(send|recv)_init|Isendrecv|[BSR]?send_init|Recv_init)/i.test(name))
    flags.push("SPEAKS");
  if (
    /^MPI_(Comm_(set_|attach|call_err|free$|delete_attr)|Attr_(put|delete)|Errhandler_set)|^MPIX?_Comm_(failure_ack|ack_failed)/.test(
      name,
    )
  )
    flags.push("SPEAKS");
  if (
    /^MPI_(Type_(?!free|commit|set_|get_(?!value)|size|delete|extent|lb|ub|match|create_keyval|dup$|f2c|c2f|toint|fromint)|Group_(union|inter|diff|incl|excl|range)|Comm_group|Info_create$|Op_create|Comm_create_keyval|Type_create_keyval)/.test(
      name,
    )
  )
    flags.push("MAKES");
  if (
    /^MPI_(T_|Win_|Session_|R?(put|get|accumulate|get_accumulate)(_c)?$|Fetch_and_op|Compare_and_swap|Open_port|Close_port|\w*_name$|Register_datarep)|(c2f|f2c|toint|fromint)$/i.test(
      name,
    ) &&
    !/(set|get)_name$/.test(name)
  )
    flags.push("RARE");
  return flags.filter(Boolean);
}

export function functionsOfTable() {
  const imported = new Set(importedFunctions().map(({ name }) => name));
  return declaredFunctions()
    .filter(({ name }) => !never.test(name))
    .map(({ name, result, parameters }) => ({
      name,
      result,
      parameters,
      // Functions that are C code of the program itself trap as the program would where a pointer leads out of its memory.
      flags: imported.has(name) ? flagsOf(name) : [...flagsOf(name), "LOCAL"],
      rows: parameters.map((_, index) => parameterOf(name, index, parameters)),
    }));
}

const castOf = (parameter) => {
  const [, type, , arrays] = parameter.match(/^(.*?)(\w+)((?:\[\w*\])*)$/);
  if (arrays === "[][3]") return `${type.trim()} (*)[3]`;
  return arrays === "" ? type.trim() : `${type.trim()} *`;
};

/** A call with arguments from `v`, which are 64 bits each. */
function thunkOf({ name, result, parameters }, index) {
  const args = parameters.map((parameter, i) => {
    const cast = castOf(parameter);
    if (/_function(_c)?$/.test(cast)) return `(${cast} *)(intptr_t)v[${i}]`;
    return /\*|^MPI_(Comm|Group|Datatype|Op|Request|Errhandler|Info|Message|File|Win|Session)$|^MPI_T_(enum|cvar_handle|pvar_\w+|event_\w+)$/.test(
      cast,
    )
      ? `(${cast})(intptr_t)v[${i}]`
      : `(${cast})v[${i}]`;
  });
  const call = `${name}(${args.join(", ")})`;
  const isCode = result === "int" && !/toint$/.test(name);
  return `    case ${index}: ${isCode ? `return ${call};` : `(void)${call}; return 0;`}`;
}

/** calls.h: the table and the switch that calls. */
export function callsHeader() {
  const functions = functionsOfTable();
  const row = ({ kind, bytes, of, length, type, out, many }) =>
    `{P_${kind}, OF_${of}, ${bytes}, ${length}, ${type}, ${out}, ${many}}`;
  return [
    "/* Made from include/mpi.h by scripts/abi-fuzz-calls.mjs. */",
    `enum { FUNCTIONS = ${functions.length} };`,
    "static const struct function table[FUNCTIONS] = {",
    ...functions.map(
      ({ name, flags, rows }) =>
        `    {"${name}", ${flags.map((flag) => `IS_${flag}`).join(" | ") || 0}, ${rows.length}, {${rows.map(row).join(", ") || "{0}"}}},`,
    ),
    "};",
    "static int make_call(int which, const int64_t *v) {",
    "    switch (which) {",
    ...functions.map(thunkOf),
    "    default: return 0;",
    "    }",
    "}",
    "",
  ].join("\n");
}
