/* Episodes: which calls are made, what becomes of what they made, and what must hold at the end. */

static const int calls_of[] = {60, 25, 40};
/* Streams of random numbers that all ranks share have this instead of a rank. */
enum { SHARED = 255 };

static void seed_call(int is_shared, int number) {
    seed_random(seed, (uint64_t)episode, is_shared ? SHARED : (uint64_t)rank, (uint64_t)number);
}

static int is_fitting(const struct function *it) {
    const int flags = it->flags;
    if (flags & IS_WORLDWIDE) return mode == TOGETHER;
    /* A rank that got an error has left the episode, the others perhaps not yet, and nothing but that rank ends an agreement. */
    if (flags & IS_AGREES && mode == TOGETHER && call_number > 0) return 0;
    switch (mode) {
        case ALONE: return !(flags & IS_WAITS) && (!(flags & IS_REVOKES) || often(3));
        case TOGETHER:
            return (flags & (IS_TOGETHER | IS_AGREES | IS_FILE_TOGETHER)) && !strstr(it->name, "disconnect");
        default:
            if (flags & (IS_AGREES | IS_FILE_TOGETHER | IS_GENERALIZED)) return 0;
            if (strncmp(it->name, "MPI_File", 8) == 0) return 0;
            if (flags & IS_REVOKES) return often(3);
            return !is_breaker || !((flags & IS_WAITS) || ((flags & IS_TOGETHER) && !(flags & IS_AT_ONCE)));
    }
}

static const struct function *draw_function_to_call(int flags) {
    for (;;) {
        const struct function *it = &table[below(FUNCTIONS)];
        if (it->flags & IS_RARE && !often(5)) continue;
        if ((it->flags & flags) == flags && is_fitting(it)) return it;
    }
}

/* Handles that the call was given in memory, where it may have replaced them. */
static int handles_before[14], list_before[16];

static int is_in_arena(int64_t address) {
    return (uint32_t)address - (uint32_t)(uintptr_t)arena < ARENA_BYTES - 64;
}

static int word_at(int64_t address) {
    int value;
    memcpy(&value, at((uint32_t)address), 4);
    return value;
}

static int is_request_list(const struct parameter *p) {
    return p->kind == P_ARRAY && p->of == OF_REQUEST && p->out == 2 && v[p->length] > 0 && v[p->length] <= 16;
}

static void remember_handles(void) {
    for (int i = 0; i < current->parameters; i++) {
        const struct parameter *p = &current->parameter[i];
        if (!is_in_arena(v[i])) continue;
        if (p->kind == P_HANDLE_AT) {
            handles_before[i] = word_at(v[i]);
            /* Only the program can end a generalized request, and it cannot any more when it has freed it. */
            struct object *request = find_live(OF_REQUEST, handles_before[i]);
            if (request && request->generalized && strcmp(current->name, "MPI_Request_free") == 0)
                MPI_Grequest_complete((MPI_Request)(intptr_t)request->handle);
        }
        if (is_request_list(p)) {
            for (int k = 0; k < v[p->length]; k++) list_before[k] = word_at(v[i] + 4 * k);
        }
    }
}

/* Where communicators will be when the requests that make them are complete. */
enum { LATER = 64 };
static uint32_t later[LATER];
static int later_count;

static void take_new_handle(const struct parameter *p, int value) {
    /* Of communicators that several ranks would have to use alike none is kept. */
    if (p->of == OF_COMM && current->flags & IS_AT_ONCE) {
        if (later_count < LATER) later[later_count++] = (uint32_t)v[p - current->parameter];
        return;
    }
    if (p->of == OF_COMM && mode != ALONE) {
        if (value >= 0x1000) release(OF_COMM, value);
        return;
    }
    if (is_traced) fprintf(stderr, "rank %d: it made 0x%x\n", rank, value);
    struct object *made = add_live((enum of)p->of, value);
    if (made == 0) return;
    made->persistent = (current->flags & IS_PERSISTENT) != 0;
    made->generalized = (current->flags & IS_GENERALIZED) != 0;
    for (int i = 0; i < current->parameters; i++) made->writes |= current->parameter[i].kind == P_BUFFER && current->parameter[i].out;
    if (p->of == OF_TYPE && (mode == TOGETHER || often(80))) MPI_Type_commit(&(MPI_Datatype){(MPI_Datatype)(intptr_t)value});
}

/* Handles that the call has made or ended. */
static void take_over(int code) {
    for (int i = 0; i < current->parameters; i++) {
        const struct parameter *p = &current->parameter[i];
        if (!is_in_arena(v[i])) continue;
        if (p->kind == P_HANDLE_AT && p->out == 1 && code == 0) take_new_handle(p, word_at(v[i]));
        if (p->kind == P_HANDLE_AT && p->out == 2 && word_at(v[i]) == null_handle[p->of]) {
            if (p->of == OF_COMM && handles_before[i] == (int)(intptr_t)x) is_x_gone = 1;
            forget((enum of)p->of, handles_before[i]);
        }
        if (is_request_list(p)) {
            for (int k = 0; k < v[p->length]; k++) {
                if (word_at(v[i] + 4 * k) == null_handle[OF_REQUEST]) forget(OF_REQUEST, list_before[k]);
            }
        }
        if (p->kind == P_WORD && code == 0) {
            if (p->of == OF_MEMORY && block_count < BLOCKS) blocks[block_count++] = word_at(v[i]);
            if (p->of == OF_KEYVAL && p->out == 1 && keyval_count < KEYVALS) keyvals[keyval_count++] = word_at(v[i]);
        }
    }
    if (code == 0 && strcmp(current->name, "MPI_Free_mem") == 0) {
        for (int i = 0; i < block_count; i++) {
            if (blocks[i] == (int)v[0]) blocks[i] = blocks[--block_count];
        }
    }
}

/* May it write later, too? */
static int leaves_something(void) {
    for (int i = 0; i < current->parameters; i++) {
        if (current->parameter[i].kind == P_HANDLE_AT && current->parameter[i].of == OF_REQUEST && current->parameter[i].out == 1)
            return 1;
    }
    return strstr(current->name, "_begin") != 0;
}

static void expect_unchanged(int64_t byte) {
    if (byte < 0) return;
    const uint32_t address = (uint32_t)byte;
    for (int i = 0; i < allowed_count; i++) printf("it may write 0x%x to 0x%x\n", allowed[i].from, allowed[i].to);
    fail("byte 0x%x was changed to 0x%x, which is no part of any output", address, *at(address));
}

/* One call; returns its code. */
static int make_one_call(int which) {
    const int is_measured = !(current->flags & (IS_WAITS | IS_TOGETHER | IS_FILE_TOGETHER | IS_AGREES | IS_WORLDWIDE));
    remember_handles();
    if (is_traced) describe(stderr), fprintf(stderr, "\n");
    const double begin = MPI_Wtime();
    const int code = make_call(which, v);
    const double took = MPI_Wtime() - begin;
    if (is_traced) fprintf(stderr, "rank %d: %s -> %d\n", rank, current->name, code);
    if (is_measured && took > slowest_s) slowest_s = took, slowest = which;
    calls_made++, called[which]++;
    if (code == 0) succeeded[which]++;
    else errors_returned++;
    if (code < 0 || code > 0x3fff) fail("it returned %d, which is no error code", code);
    /* With a trace the call that changed a byte is named, not only its episode. */
    expect_unchanged(is_traced ? check_all() : check_call());
    if (leaves_something()) keep_allowed();
    take_over(code);
    return code;
}

static int draw_and_call(int number, int is_shared, int flags, int bad_percent) {
    call_number = number;
    seed_call(is_shared, number);
    current = draw_function_to_call(flags);
    begin_call();
    draw_arguments(bad_percent);
    return make_one_call((int)(current - table));
}

static void must(int code, const char *what) {
    if (code != 0) fail("%s: error %d between episodes", what, code);
}

static int size_of(MPI_Comm comm) {
    int size, is_inter = 0;
    must(MPI_Comm_size(comm, &size), "MPI_Comm_size");
    MPI_Comm_test_inter(comm, &is_inter);
    if (is_inter) must(MPI_Comm_remote_size(comm, &size), "MPI_Comm_remote_size");
    return size;
}

/* A communicator for this episode alone. */
static MPI_Comm new_communicator(void) {
    MPI_Comm base = mode == ALONE ? MPI_COMM_SELF : control, made = MPI_COMM_NULL, half;
    const int size = mode == ALONE ? 1 : ranks, me = mode == ALONE ? 0 : rank;
    const int right = (me + 1) % size, left = (me + size - 1) % size, yes = 1;
    /* Of a graph in which all have two edges: where those of each end, and whom they lead to. */
    int ends[MEMBERS], edges[2 * MEMBERS];
    switch (below(mode == ABSURD && ranks > 1 ? 6 : 5)) {
        case 0:
            must(MPI_Cart_create(base, 1, &size, &yes, 0, &made), "MPI_Cart_create");
            break;
        case 1:
            for (int i = 0; i < size; i++) {
                ends[i] = 2 * i + 2;
                edges[2 * i] = (i + 1) % size;
                edges[2 * i + 1] = (i + size - 1) % size;
            }
            must(MPI_Graph_create(base, size, ends, edges, 0, &made), "MPI_Graph_create");
            break;
        case 2:
            must(MPI_Dist_graph_create_adjacent(base, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                     &made), "MPI_Dist_graph_create_adjacent");
            break;
        case 5:
            must(MPI_Comm_split(control, rank % 2, rank, &half), "MPI_Comm_split");
            must(MPI_Intercomm_create(half, 0, control, 1 - rank % 2, 7, &made), "MPI_Intercomm_create");
            must(MPI_Comm_free(&half), "MPI_Comm_free");
            break;
        default: must(MPI_Comm_dup(base, &made), "MPI_Comm_dup");
    }
    must(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return made;
}

static void open_file(void) {
    char name[40];
    snprintf(name, sizeof name, mode == ALONE ? "abi-fuzz-%d.dat" : "abi-fuzz.dat", rank);
    MPI_File file;
    must(MPI_File_open(mode == ALONE ? MPI_COMM_SELF : control, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
             MPI_INFO_NULL, &file), "MPI_File_open");
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    add_live(OF_FILE, (int)(intptr_t)file);
}

static void revoke(void) {
    if (!is_x_gone) MPIX_Comm_revoke(x);
    for (int i = 0; i < live_count[OF_COMM]; i++) MPIX_Comm_revoke((MPI_Comm)(intptr_t)live[OF_COMM][i].handle);
    is_revoked = 1;
}

/* Of a call that all ranks have made: waits for what it started. */
static int finish_together(int code) {
    while (live_count[OF_REQUEST] > 0) {
        struct object it = live[OF_REQUEST][0];
        MPI_Request request = (MPI_Request)(intptr_t)it.handle;
        if (it.persistent) {
            if (code == 0) code = MPI_Start(&request);
            if (code == 0) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Request_free(&request);
        } else if (code == 0 && often(50)) {
            for (int done = 0; code == 0 && !done;) code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        } else {
            if (code != 0) revoke();
            const int ended = MPI_Wait(&request, MPI_STATUS_IGNORE);
            if (code == 0) code = ended;
        }
        forget(OF_REQUEST, it.handle);
    }
    return code;
}

/* A file cannot be closed between the two halves of an access; which access it is, nobody says. */
static void end_split_access(MPI_File file) {
    MPI_File_read_at_all_end(file, arena, MPI_STATUS_IGNORE);
    MPI_File_write_at_all_end(file, arena, MPI_STATUS_IGNORE);
    MPI_File_read_all_end(file, arena, MPI_STATUS_IGNORE);
    MPI_File_write_all_end(file, arena, MPI_STATUS_IGNORE);
    MPI_File_read_ordered_end(file, arena, MPI_STATUS_IGNORE);
    MPI_File_write_ordered_end(file, arena, MPI_STATUS_IGNORE);
}

/* Everything that the episode has begun ends, and everything that it has made goes. */
static void clean_up(void) {
    is_cleaning = 1;
    if (mode != TOGETHER) revoke();
    while (live_count[OF_REQUEST] > 0) {
        struct object it = live[OF_REQUEST][0];
        MPI_Request request = (MPI_Request)(intptr_t)it.handle;
        if (it.generalized) MPI_Grequest_complete(request);
        if (is_traced) fprintf(stderr, "rank %d: MPI_Wait(0x%x) at the end\n", rank, it.handle);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (it.persistent) MPI_Request_free(&request);
        forget(OF_REQUEST, it.handle);
    }
    while (live_count[OF_MESSAGE] > 0) {
        static unsigned char bytes[64];
        MPI_Message message = (MPI_Message)(intptr_t)live[OF_MESSAGE][0].handle;
        if (is_traced) fprintf(stderr, "rank %d: MPI_Mrecv(0x%x) at the end\n", rank, live[OF_MESSAGE][0].handle);
        forget(OF_MESSAGE, live[OF_MESSAGE][0].handle);
        MPI_Mrecv(bytes, sizeof bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    }
    while (later_count > 0) {
        const int handle = word_at(later[--later_count]);
        if (handle >= 0x1000) release(OF_COMM, handle);
    }
    for (int i = 0; i < live_count[OF_FILE]; i++) end_split_access((MPI_File)(intptr_t)live[OF_FILE][i].handle);
    void *buffer;
    int bytes;
    if (is_traced) fprintf(stderr, "rank %d: MPI_Buffer_detach at the end\n", rank);
    MPI_Buffer_detach(&buffer, &bytes);
    for (int class = CLASSES - 1; class >= 0; class--) {
        while (live_count[class] > 0) {
            const int handle = live[class][0].handle;
            if (is_traced) fprintf(stderr, "rank %d: 0x%x is freed at the end\n", rank, handle);
            if (!release((enum of)class, handle)) fail("handle 0x%x cannot be freed at the end", handle);
            forget((enum of)class, handle);
        }
    }
    while (keyval_count > 0) {
        int keyval = keyvals[--keyval_count];
        if (MPI_Comm_free_keyval(&keyval)) MPI_Type_free_keyval(&keyval);
    }
    while (block_count > 0) MPI_Free_mem((void *)(intptr_t)blocks[--block_count]);
    if (!is_x_gone) must(MPI_Comm_free(&x), "MPI_Comm_free");
    is_cleaning = 0;
}

/* Do messages and collectives still arrive as they should? Returns how many calls all ranks have made. */
static long long exchange(void) {
    seed_call(1, -2);
    static unsigned char out[20000], in[20000];
    const int bytes = 1 + below((int)sizeof out), right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    for (int i = 0; i < bytes; i++) out[i] = (unsigned char)(rank * 7 + episode + i);
    memset(in, 0, sizeof in);
    must(MPI_Sendrecv(out, bytes, MPI_BYTE, right, 3, in, bytes, MPI_BYTE, left, 3, control, MPI_STATUS_IGNORE), "MPI_Sendrecv");
    for (int i = 0; i < (int)sizeof in; i++) {
        const unsigned char wanted = i < bytes ? (unsigned char)(left * 7 + episode + i) : 0;
        if (in[i] != wanted) fail("byte %d of an exchange after the episode is %d, not %d", i, in[i], wanted);
    }
    long long mine[2] = {calls_made, rank + 1}, all[2];
    must(MPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, control), "MPI_Allreduce");
    if (all[1] != (long long)ranks * (ranks + 1) / 2) fail("the sum after the episode is %lld", all[1]);
    return all[0];
}

static void stock(int is_shared) {
    for (int i = 0; i < 10; i++) draw_and_call(1000 + i, is_shared, IS_MAKES, 0);
}

static long long run_episode(void) {
    current = 0;
    seed_call(1, -1);
    const int chance = below(100), breaker = below(ranks);
    mode = chance < 40 ? ALONE : chance < 65 ? TOGETHER : ABSURD;
    is_breaker = mode == ABSURD && rank == breaker;
    is_x_gone = is_revoked = 0;
    const int is_shared = mode == TOGETHER;
    x = new_communicator();
    x_size = size_of(x);
    if (is_shared) memset(gone_count, 0, sizeof gone_count);
    begin_watching();
    const enum mode kind = mode;
    /* Datatypes and groups first, so that there is something to use. They are local, whatever the episode is. */
    mode = ALONE;
    stock(is_shared);
    mode = kind;
    if (mode != ABSURD && often(50)) open_file();
    const int bad_percent = mode == TOGETHER ? 20 : 55;
    for (int i = 0; i < calls_of[mode] && has_room(); i++) {
        const int wanted = is_shared && i == 0 && episode % 8 == 3 ? IS_AGREES : 0;
        int code = draw_and_call(i, is_shared, wanted, bad_percent);
        if (!is_shared) continue;
        code = finish_together(code);
        if (code == 0) continue;
        revoke();
        break;
    }
    clean_up();
    allowed_count = 0;
    expect_unchanged(check_all());
    return exchange();
}

static void print_counts(long long total) {
    static int all_called[FUNCTIONS], all_succeeded[FUNCTIONS];
    long long errors;
    MPI_Reduce(called, all_called, FUNCTIONS, MPI_INT, MPI_SUM, 0, control);
    MPI_Reduce(succeeded, all_succeeded, FUNCTIONS, MPI_INT, MPI_SUM, 0, control);
    MPI_Reduce(&errors_returned, &errors, 1, MPI_LONG_LONG, MPI_SUM, 0, control);
    if (rank != 0) return;
    int functions = 0, good = 0;
    for (int i = 0; i < FUNCTIONS; i++) functions += all_called[i] > 0, good += all_succeeded[i] > 0;
    printf("abi-fuzz: %lld calls, %lld errors returned, %d episodes; of %d functions %d called, %d succeeded; slowest %s %.0f ms\n",
        total, errors, episode, FUNCTIONS, functions, good, table[slowest].name, slowest_s * 1000);
    if (!is_counting) return;
    for (int i = 0; i < FUNCTIONS; i++) printf("%-40s %7d %7d\n", table[i].name, all_called[i], all_succeeded[i]);
}
